"""The public names for type checkers: `__init__.py` loads them when they are first used.

The methods of the three extensions that come with likewise are written out; one that another package adds is called as
the function it is, `function(workspace, ...)`, where types matter.
"""

from likewise import sklearn as sklearn
from likewise.api.evaluate import Comparison as Comparison
from likewise.api.evaluate import EvaluationResult as EvaluationResult
from likewise.api.evaluate import evaluate as evaluate
from likewise.api.retrieval import RetrievalResult as RetrievalResult
from likewise.api.retrieval import retrieval as retrieval
from likewise.api.retrieval import triplets as triplets
from likewise.api.search import NeighboursResult as NeighboursResult
from likewise.api.search import PoolResult as PoolResult
from likewise.api.search import SearchResult as SearchResult
from likewise.api.search import pool as pool
from likewise.api.search import search as search
from likewise.api.table_result import TableResult as TableResult
from likewise.api.workspace import Workspace as CoreWorkspace
from likewise.catalog import load_image as load_image
from likewise.conditional import workspace_methods as conditional_methods
from likewise.conditional.templates import step as template_methods
from likewise.encoders.registry import get_encoder as get_encoder
from likewise.errors import LikewiseError as LikewiseError
from likewise.evaluation import measures as measures
from likewise.evaluation.measures import parse_measure as parse_measure
from likewise.evaluation.measures import register_measure as register_measure
from likewise.outfits import workspace_methods as outfit_methods
from likewise.training import workspace_methods as training_methods

__version__: str
__all__: list[str]

class Workspace(CoreWorkspace):
    audit_template_set = template_methods.audit_template_set
    build_template_set = template_methods.build_template_set
    evaluate_conditions = conditional_methods.evaluate_conditions
    finetune = training_methods.finetune
    generate_outfits = outfit_methods.generate_outfits
    train_check = training_methods.train_check
    train_combiner = conditional_methods.train_combiner
    train_outfit_model = outfit_methods.train_outfit_model
    train_perceptual = training_methods.train_perceptual
    train_two_tower = conditional_methods.train_two_tower
