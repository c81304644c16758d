from hkcanto_metrics.choice import ChoiceReading as ChoiceReading
from hkcanto_metrics.choice import ChoiceSetReading as ChoiceSetReading
from hkcanto_metrics.choice import extract_choice as extract_choice
from hkcanto_metrics.choice import extract_choice_set as extract_choice_set
from hkcanto_metrics.choice import read_choice as read_choice
from hkcanto_metrics.choice import read_choice_set as read_choice_set
from hkcanto_metrics.cleaning import clean_output as clean_output
from hkcanto_metrics.fluency import Fluency as Fluency
from hkcanto_metrics.fluency import cantonese_fluency as cantonese_fluency
from hkcanto_metrics.fluency import pool_fluency as pool_fluency
from hkcanto_metrics.g2p import JyutpingScore as JyutpingScore
from hkcanto_metrics.g2p import pool_jyutping as pool_jyutping
from hkcanto_metrics.g2p import score_jyutping as score_jyutping
from hkcanto_metrics.labels import macro_f1 as macro_f1
from hkcanto_metrics.labels import read_label as read_label
from hkcanto_metrics.language import identify_language as identify_language
from hkcanto_metrics.language import identify_reasoning as identify_reasoning
from hkcanto_metrics.language import score_reasoning as score_reasoning
from hkcanto_metrics.number import extract_number as extract_number
from hkcanto_metrics.rewards import cantonese_reward as cantonese_reward
from hkcanto_metrics.rewards import choice_reward as choice_reward
from hkcanto_metrics.rewards import constraint_reward as constraint_reward
from hkcanto_metrics.rewards import format_reward as format_reward
from hkcanto_metrics.rewards import jyutping_reward as jyutping_reward
from hkcanto_metrics.rewards import multiply_rewards as multiply_rewards
from hkcanto_metrics.rewards import (
    reasoning_language_reward as reasoning_language_reward,
)
from hkcanto_metrics.short_answer import score_short_answer as score_short_answer
from hkcanto_metrics.translation import score_translation as score_translation
