//! Generated stories for tasks 1 and 2: people move, and in task 2 they carry things.
//!
//! The words and sentences are original. Vocabulary size, kinds of words and file layout match the published stories.

use std::fmt::Write;

use super::{QUESTIONS, StoryTask};
use crate::random::{Generator, stream};

const SEED: u32 = 1;
/// Questions per story, as in the published files.
const QUESTIONS_PER_STORY: u32 = 5;
/// Maximum number of sentences between two questions of task 2, plus one if no object is known by then. Five times 15
/// sentences of seven words fit in a story.
const MAX_SENTENCES: u32 = 14;

const PEOPLE: [&str; 4] = ["Anna", "Ben", "Clara", "Dario"];
const PLACES: [&str; 6] = ["attic", "cellar", "library", "stable", "terrace", "workshop"];
const OBJECTS: [&str; 3] = ["lantern", "map", "violin"];
const MOVES: [&str; 4] = ["walked to", "ran to", "hurried to", "came back to"];
const TAKES: [[&str; 2]; 4] =
    [["took", " there"], ["seized", " there"], ["collected", " there"], ["lifted up", " there"]];
const DROPS: [[&str; 2]; 4] = [["dropped", ""], ["abandoned", ""], ["left", ""], ["set down", " there"]];

pub(super) fn generate(task: StoryTask, training_questions: u32) -> [String; 2] {
    [(0, training_questions), (1, QUESTIONS)].map(|(half, questions)| {
        let mut text = String::new();
        for story in 0..questions / QUESTIONS_PER_STORY {
            let stream = stream::STORIES + 2 * task.number() + half;
            let mut narrator = Narrator {
                generator: Generator { stream, step: story, seed: SEED },
                drawn: 0,
                line: 0,
                people: [None; PEOPLE.len()],
                objects: [Whereabouts::Unknown; OBJECTS.len()],
            };
            for _ in 0..QUESTIONS_PER_STORY {
                match task {
                    StoryTask::OneSupportingFact => {
                        narrator.walk(&mut text);
                        narrator.walk(&mut text);
                        narrator.ask_for_a_person(&mut text);
                    }
                    StoryTask::TwoSupportingFacts => {
                        narrator.write_events(&mut text);
                        narrator.ask_for_an_object(&mut text);
                    }
                }
            }
        }
        text
    })
}

/// Place of a person and the line that states it.
#[derive(Clone, Copy)]
struct Stay {
    place: usize,
    line: u32,
}

#[derive(Clone, Copy)]
enum Whereabouts {
    Unknown,
    /// Held by a person who took it at this line.
    Held {
        person: usize,
        line: u32,
    },
    /// Dropped by a person who arrived at `stay.line`.
    Lying {
        stay: Stay,
        line: u32,
    },
}

struct Narrator {
    generator: Generator,
    drawn: u32,
    line: u32,
    people: [Option<Stay>; PEOPLE.len()],
    objects: [Whereabouts; OBJECTS.len()],
}

impl Narrator {
    fn below(&mut self, bound: usize) -> usize {
        self.drawn += 1;
        self.generator.below(self.drawn, u32::try_from(bound).expect("a short list")) as usize
    }

    fn one_of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// Writes a line and returns its number.
    fn say(&mut self, text: &mut String, words: &str) -> u32 {
        self.line += 1;
        writeln!(text, "{} {words}", self.line).expect("writing to a string never fails");
        self.line
    }

    fn walk(&mut self, text: &mut String) -> usize {
        let person = self.below(PEOPLE.len());
        let here = self.people[person].map(|stay| stay.place);
        let elsewhere: Vec<usize> = (0..PLACES.len()).filter(|&place| Some(place) != here).collect();
        let place = self.one_of(&elsewhere);
        let verb = self.one_of(&MOVES);
        let line = self.say(text, &format!("{} {verb} the {}.", PEOPLE[person], PLACES[place]));
        self.people[person] = Some(Stay { place, line });
        person
    }

    /// Writes pairs of sentences, at least until an object is known.
    fn write_events(&mut self, text: &mut String) {
        let mut sentences = 0;
        loop {
            for _ in 0..2 {
                let person = self.below(PEOPLE.len());
                let moves = self.below(2) == 0;
                if moves || !self.drop_or_take(person, text) {
                    self.walk(text);
                }
                sentences += 1;
            }
            let known = !self.known_objects().is_empty();
            if sentences >= MAX_SENTENCES && !known {
                // No object is known yet, so anyone with a known place can take one.
                let standing = self.people.iter().position(Option::is_some).expect("a person has walked");
                self.drop_or_take(standing, text);
                return;
            }
            if known && (sentences >= MAX_SENTENCES || self.below(2) == 0) {
                return;
            }
        }
    }

    fn known_objects(&self) -> Vec<usize> {
        (0..OBJECTS.len()).filter(|&object| !matches!(self.objects[object], Whereabouts::Unknown)).collect()
    }

    /// Makes a person drop or take an object. Returns false if neither is possible.
    fn drop_or_take(&mut self, person: usize, text: &mut String) -> bool {
        let Some(stay) = self.people[person] else { return false };
        let held = |w: &Whereabouts| matches!(w, Whereabouts::Held { person: holder, .. } if *holder == person);
        if let Some(object) = self.objects.iter().position(held) {
            let [verb, behind] = self.one_of(&DROPS);
            let line = self.say(text, &format!("{} {verb} the {}{behind}.", PEOPLE[person], OBJECTS[object]));
            self.objects[object] = Whereabouts::Lying { stay, line };
            return true;
        }
        let within_reach = |object: &usize| match self.objects[*object] {
            Whereabouts::Unknown => true,
            Whereabouts::Held { .. } => false,
            Whereabouts::Lying { stay: Stay { place, .. }, .. } => place == stay.place,
        };
        let objects: Vec<usize> = (0..OBJECTS.len()).filter(within_reach).collect();
        if objects.is_empty() {
            return false;
        }
        let object = self.one_of(&objects);
        let [verb, behind] = self.one_of(&TAKES);
        let line = self.say(text, &format!("{} {verb} the {}{behind}.", PEOPLE[person], OBJECTS[object]));
        self.objects[object] = Whereabouts::Held { person, line };
        true
    }

    fn ask_for_a_person(&mut self, text: &mut String) {
        let known: Vec<usize> = (0..PEOPLE.len()).filter(|&person| self.people[person].is_some()).collect();
        let person = self.one_of(&known);
        let stay = self.people[person].expect("only people with a known place are chosen");
        self.say(text, &format!("Where is {}? \t{}\t{}", PEOPLE[person], PLACES[stay.place], stay.line));
    }

    fn ask_for_an_object(&mut self, text: &mut String) {
        let object = self.one_of(&self.known_objects());
        let (stay, line) = match self.objects[object] {
            Whereabouts::Held { person, line } => (self.people[person].expect("holders have a place"), line),
            Whereabouts::Lying { stay, line } => (stay, line),
            Whereabouts::Unknown => unreachable!("only known objects are asked for"),
        };
        let (object, place) = (OBJECTS[object], PLACES[stay.place]);
        self.say(text, &format!("Where is the {object}? \t{place}\t{line} {}", stay.line));
    }
}
