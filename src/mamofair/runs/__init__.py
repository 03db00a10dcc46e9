"""Runs: a fitted estimator with everything needed to judge it, in a folder without pickle.

>>> from tempfile import TemporaryDirectory
>>> from mamofair import FairNetClassifier
>>> from mamofair.datasets import make_toy
>>> from mamofair.runs import Run, load, save
>>> toy = make_toy()
>>> model = FairNetClassifier(epochs=2, random_state=0).fit(toy.X, toy.y, sensitive_features=toy.sensitive)
>>> with TemporaryDirectory() as folder:
...     again = load(save(Run(model, {}, {"group": ("protected", "unprotected")}), folder))
>>> bool((again.predict(toy.X) == model.predict(toy.X)).all())
True

What test rows say, and what is in a folder:

>>> from pathlib import Path
>>> from mamofair.runs import StoredQuestion, assess_run, describe_near_constant, holds_run, is_current, judge, load_run
>>> from mamofair.runs import measure_test, own_folder, read_alternatives, read_question, replaced_file, require_place
>>> from mamofair.runs import describe_rows, save_alternatives, to_onnx, versions, write_question
>>> from mamofair.selection import MostAccurateWithin, Question
>>> limited = model.with_selection(MostAccurateWithin(0.9))
>>> run = Run(limited, {}, {"group": ("protected", "unprotected")})
>>> run = measure_test(run, toy.X, toy.y, sensitive_features=toy.sensitive)
>>> judge(run).answer, assess_run(run).gaps[0].rows, describe_near_constant(run, 0)
('kept', 600, None)
>>> list(describe_rows(limited)["supports"])  # the smallest limits that the rows could support
['demographic_parity[group]']
>>> len(to_onnx(model)) > 1000 and "torch" in versions()
True
>>> question = Question.of(model.front_, 0.2, confidence=0.95)
>>> with TemporaryDirectory() as name:
...     folder = Path(name)
...     require_place(folder)  # no foreign files
...     with own_folder(folder):  # no other writer
...         _ = save(run, folder)
...         with replaced_file(folder / "notes.txt") as file:
...             _ = file.write(b"written atomically")
...     _ = save_alternatives({"sentences": ["No alternative was found."]}, folder)
...     with own_folder(folder):
...         write_question(StoredQuestion(question, run="checksum"), folder)
...     print(holds_run(folder), is_current(load_run(folder), folder))
...     print(read_alternatives(folder), read_question(folder).number)
True True
['No alternative was found.'] 1

An interrupted training continues from its checkpoint:

>>> from mamofair.runs import checkpoint_files, checkpointed, is_resumable, read_checkpoint, restore_checkpoint
>>> from mamofair.runs import write_checkpoint
>>> net = FairNetClassifier(epochs=2, members=2, random_state=0)
>>> with TemporaryDirectory() as name:
...     folder = Path(name)
...     fitting = net.fitting(toy.X, toy.y, sensitive_features=toy.sensitive)
...     _ = next(checkpointed(fitting, {"seed": 0}, folder))  # immediately, and then every few seconds
...     again, settings = read_checkpoint(folder)
...     kept = checkpoint_files(folder)
...     write_checkpoint(again, settings, folder)
...     restore_checkpoint(folder, kept)
...     is_resumable(folder), settings["seed"]
(True, 0)
"""

import lazy_loader as _lazy

# Predictions should not wait for the imports of judging, exporting and training.
__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
