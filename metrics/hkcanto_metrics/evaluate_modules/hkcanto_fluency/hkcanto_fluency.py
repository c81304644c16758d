"""A Hugging Face `evaluate` module that checks whether texts are in Cantonese."""

from hkcanto_metrics import cantonese_fluency, clean_output, pool_fluency
from hkcanto_metrics.evaluate_modules import base


class HKCantoFluency(base.Metric):
    """Share of texts that are Cantonese rather than Standard Written Chinese.

    It is judged by the word features of cantonesedetect, with script, degenerate repetition and
    length beside it.
    """

    CITATION = "Lau, Lau and To (2024), https://aclanthology.org/2024.eurali-1.4/"
    COLUMNS = ("predictions",)

    def _compute(
        self, predictions: list[str], max_characters: int | None = None
    ) -> dict[str, float]:
        """Judge with `cantonese_fluency` and pool with `pool_fluency`.

        Args:
            predictions: the models' responses, one string per text.
            max_characters: number of characters from which a summary is penalised; None for no
                limit.

        Returns:
            A dictionary of corpus figures; see `hkcanto_metrics.fluency.pool_fluency`.
        """
        texts = (clean_output(response).text for response in predictions)
        return pool_fluency(
            cantonese_fluency(text, max_characters=max_characters) for text in texts
        )
