from .tasks import *
from .tasks import LoadedTask, load_task, stratified
