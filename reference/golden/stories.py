"""The generated stories of bAbI's task 1, as `engine/src/data/stories/` makes them up and numbers their words.

README.md beside this file, section 4, says what is drawn; the texts and their encodings are here once more so that the
traces do not depend on the engine.
"""
import numpy as np

PEOPLE = ["Anna", "Ben", "Clara", "Dario"]
PLACES = ["attic", "cellar", "library", "stable", "terrace", "workshop"]
MOVES = ["walked to", "ran to", "hurried to", "came back to"]
STREAM, SEED, QUESTIONS_PER_STORY = 6000 + 2, 1, 5


def story(pcg4d, half, number):
    """(sentences so far, question, answer) of each question of a story, in words."""
    drawn = 0

    def one_of(choices):
        nonlocal drawn
        drawn += 1
        return choices[int(pcg4d(drawn, STREAM + half, number, SEED)[0][0]) * len(choices) >> 32]

    sentences, stays, samples = [], {}, []
    for _ in range(QUESTIONS_PER_STORY):
        for _ in range(2):
            person = one_of(PEOPLE)
            place = one_of([p for p in PLACES if p != stays.get(person)])
            sentences.append(f"{person} {one_of(MOVES)} the {place}".split())
            stays[person] = place
        person = one_of([p for p in PEOPLE if p in stays])
        samples.append((list(sentences), ["Where", "is", person], stays[person]))
    return samples


def stories(pcg4d, questions=1000):
    """The first questions of the training file, and those of the test file."""
    return [[s for number in range(questions // QUESTIONS_PER_STORY) for s in story(pcg4d, half, number)] for half in (0, 1)]


def numbers_of(halves, marks):
    words = {w for half in halves for sentences, question, answer in half for w in [*sum(sentences, []), *question, answer]}
    return {w: n for n, w in enumerate(sorted(words | set(marks)), 1)}


def as_words(pcg4d, story_length, question_length):
    """Words and marks one behind the other, each of story and question filled up with zeros at its front."""
    halves = stories(pcg4d)
    numbers = numbers_of(halves, ".?")

    def row(sentences, question, _):
        told, asked = sum(([*s, "."] for s in sentences), []), [*question, "?"]
        return [0] * (story_length - len(told)) + [numbers[w] for w in told] + [0] * (question_length - len(asked)) + [numbers[w] for w in asked]

    return arrays(halves, row, numbers)


def as_sentences(pcg4d, memories, words):
    """Sentences without marks, the last one told first, then the question, each filled up with zeros at its end."""
    halves = stories(pcg4d)
    numbers = numbers_of(halves, "")

    def row(sentences, question, _):
        told = [*reversed(sentences)] + [[]] * (memories - len(sentences))
        return [n for s in [*told, question] for n in [numbers[w] for w in s] + [0] * (words - len(s))]

    return arrays(halves, row, numbers)


def arrays(halves, row, numbers):
    return [a for half in halves for a in (np.array([row(*s) for s in half], np.int32), np.array([numbers[s[2]] for s in half], np.uint8))]
