"""`likewise outfits ...`: outfits, tests of taste, and models that take them."""

import typer

from likewise.outfits.cli import benchmarks, generate, looks, make, models, stylists_test, tests, wardrobe_test

app = typer.Typer(help="Outfits: generate them, test taste (A100), train models, score.", no_args_is_help=True)
app.command("make-test")(make.make_test)
app.command("factors")(make.factors)
app.command("score")(tests.score)
app.command("wardrobe-test")(wardrobe_test.wardrobe_test)
app.command("stylists-test")(stylists_test.stylists_test)
app.command("import-test")(stylists_test.import_test)
app.command("show")(tests.show)
app.command("models")(models.models)
app.command("train")(models.train)
app.command("train-weakest")(models.targeted_data)
app.command("benchmark")(benchmarks.benchmark)
app.command("order")(benchmarks.order)
app.command("checkpoints")(benchmarks.checkpoints)
app.command("complete")(looks.complete)
app.command("swap")(looks.swap)
app.command("rate")(looks.rate)
app.command("rules")(generate.rules)
app.command("generate")(generate.generate)
app.command("check")(generate.check)
