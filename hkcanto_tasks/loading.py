from .tasks import *
