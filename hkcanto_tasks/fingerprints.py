def fingerprints(kind):
    return kind.fingerprints


from .kinds.probes import PROBES
