/** A history that every fake shows in its own words. */
export interface Person {
  id: string;
  name: string;
  email: string;
  /** The source has forgotten the account, and kept the name. */
  isDeleted: boolean;
}

export interface Happening {
  id: string;
  at: Date;
  type: 'begin' | 'acknowledge' | 'work' | 'end';
  text: string;
  person: Person;
}

export interface Past {
  number: number;
  title: string;
  description: string;
  state: 'begun' | 'worked on' | 'done';
  /** `P1` to `P5`, one that nobody knows, or none. */
  priority: string | undefined;
  createdAt: Date;
  /** Before the creation in some, as clocks and people have it. */
  endedAt: Date | undefined;
  author: Person;
  lead: Person;
  team: string;
  service: string;
  tag: string;
  happenings: readonly Happening[];
  note: string;
}

export const PEOPLE: readonly Person[] = Array.from({ length: 12 }, (_, index) => ({
  id: `PU${String(index).padStart(4, '0')}`,
  name: `Person ${'ABCDEFGHIJKL'.charAt(index)}`,
  email: `person-${index}@old.example`,
  isDeleted: index >= 10,
}));
/** Values that are easily lost, of fields that people have made. */
export const OWN_VALUES = { score: 0, paged: false, remark: '', owner: { team: 'a' } };
export const TEAMS = ['Payments', 'Search'];
export const SERVICES = ['checkout', 'Search API'];

const FIRST = Date.UTC(2020, 0, 6, 9);
/** Between two incidents, and at most between the first and the last. */
const STEP = 1.2 * 86_400_000;
const SPAN = 5 * 365 * 86_400_000;
const MINUTE = 60_000;
/** Entries of one incident, which no single request can take. */
export const MANY = 5_000;

/** Returns the same history for the same size: every kind of trouble is in the first 60 incidents, and comes again. */
export const createPast = (size: number): Past[] =>
  Array.from({ length: size }, (_, number) => createIncident(number, size));

const pick = <Item>(items: readonly Item[], index: number): Item => items[index % items.length] as Item;

function createIncident(number: number, size: number): Past {
  const kind = number % 60;
  const start = FIRST + Math.floor(Math.min(STEP, SPAN / size) * number);
  const at = (minutes: number) => new Date(start + minutes * MINUTE + number);
  const isOutOfOrder = kind === 4;
  const isOpen = kind === 20 || kind === 21;
  const person = (index: number) => pick(PEOPLE, number + index);
  const count = number === 5 ? MANY : 4 + (number % 9);
  const happening = (index: number): Happening => ({
    id: `${number}-${index}`,
    at: at(isOutOfOrder ? 30 - index * 10 : number === 5 ? index : index * 5),
    type: index === 0 ? 'begin' : index === 1 ? 'acknowledge' : index === count - 1 && !isOpen ? 'end' : 'work',
    text: kind === 12 && index === 2 ? `Stack ${'😀 trace '.repeat(18_000)}` : `Step ${index} of ${number}`,
    person: person(index),
  });
  return {
    number,
    title:
      kind === 7 ? '' : kind === 11 ? `Long ${'title '.repeat(60)}` : `Incident ${number} in ${pick(SERVICES, number)}`,
    description: kind === 13 ? 'Bytes \0 that no database takes' : number % 3 === 0 ? `What ${number} was about` : '',
    state: kind === 20 ? 'begun' : kind === 21 ? 'worked on' : 'done',
    priority: kind === 3 ? 'P0' : kind === 10 ? undefined : `P${1 + (number % 5)}`,
    createdAt: at(0),
    endedAt: isOpen ? undefined : at(isOutOfOrder ? -20 : 60),
    author: kind === 9 ? pick(PEOPLE, 10) : person(0),
    lead: person(3),
    team: pick(TEAMS, number),
    service: pick(SERVICES, number),
    tag: `cause-${number % 4}`,
    happenings: Array.from({ length: count }, (__, index) => happening(index)),
    note: kind === 8 ? '' : `Note about ${number}`,
  };
}
