from .catalogue import chosen_tasks
