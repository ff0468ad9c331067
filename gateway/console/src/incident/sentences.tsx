import type { FollowUp } from '@tocsin/sdk';
import type { ReactNode } from 'react';
import { useList } from '../api/hooks.ts';
import { PART, ROLE, useDescribe } from '../incidents/describe.ts';
import { compareLists, type Describe } from '../resources/conflict.tsx';
import { toText } from '../ui/format.ts';
import { compareWords } from '../ui/compare-words.ts';
import { MarkedText } from '../ui/marked-text.tsx';
import css from './activity.module.css';
import type { Change } from './runs.ts';
import { useEditedIncident } from './save-incident.tsx';

/** What sentences call a property whose label is no noun. */
const NOUNS: Readonly<Record<string, string>> = {
  customer_impact_status: 'impact on customers',
  impact_started_at: 'start of the impact',
  first_reported_at: 'time of the first report',
  first_responded_at: 'time of the response',
  recovered_at: 'end of the impact',
  next_update_at: 'time of the next update',
  issue_type: 'kind of incident',
  visible_to: 'people who also see it',
  body: 'text',
  started_at: 'start',
  ended_at: 'end',
  due_on: 'due date',
};
const RELATIONS: Readonly<Record<string, string>> = {
  duplicate_of: 'a duplicate of',
  duplicated_by: 'the original of',
  caused_by: 'caused by',
  causes: 'the cause of',
  related: 'related to',
};
/** By the state after it. */
const POSTMORTEM_STEPS: Readonly<Record<string, string>> = {
  draft: 'made the post-mortem a draft',
  in_review: 'asked for a review of the post-mortem',
  published: 'published the post-mortem',
};
const FOLLOW_UP_VERBS: Readonly<Record<string, string>> = { done: 'completed', dropped: 'dropped', open: 'reopened' };

const FIELD = 'custom_fields.';
const RELATION = 'relations.';
/** Characters of a value that a sentence quotes. */
const MAX_QUOTED = 80;

const isNone = (value: unknown) =>
  value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
const isLong = (value: unknown) =>
  typeof value === 'string' ? value.length > MAX_QUOTED || value.includes('\n') : isDigest(value);
const textOf = (value: unknown): string => (isNone(value) ? '' : toText(value));
const isDigest = (value: unknown) => typeof value === 'object' && value !== null && 'digest' in value;

const Value = ({ children }: { children: ReactNode }) => <ins>{children}</ins>;

/** Says what a change did, behind the name of who made it. */
export function useSentences(): (change: Change, actor: string) => ReactNode {
  const { id } = useEditedIncident();
  const describe = useDescribe();
  const { data: followUps } = useList<FollowUp>(`/incidents/${id}/follow-ups`, 'follow_ups');
  return ({ field, from, to }, actor) => {
    const [, part, partId, property] = PART.exec(field) ?? [];
    if (part === 'follow_ups') {
      const title = followUps?.rows.find((each) => String(each.id) === partId)?.title;
      return followUpSentence(describe, { field, from, to }, { property, title });
    }
    if (part !== undefined) return eventSentence(describe, { field, from, to }, property);
    if (field === 'archived_at') return isNone(to) ? 'restored it' : 'archived it';
    if (field === 'restricted') return to === true ? 'restricted it' : 'showed it to everybody';
    if (field === 'postmortem_state') return POSTMORTEM_STEPS[String(to)] ?? 'changed the post-mortem';
    if (field === 'incident_manager') return leadSentence(describe, { field, from, to }, actor);
    if (field.startsWith(ROLE) || field === 'incident_responders')
      return holdersSentence(describe, { field, from, to }, actor);
    if (field.startsWith(RELATION)) return relationSentence({ field, from, to });
    return propertySentence(describe, { field, from, to }, nounOf(describe, field));
  };
}

/** With its article, but for names that people have chosen. */
const nounOf = ({ label }: Describe, field: string): string =>
  field.startsWith(FIELD) ? label(field) : `the ${NOUNS[field] ?? label(field).toLowerCase()}`;

function propertySentence({ value }: Describe, { field, from, to }: Change, noun: string): ReactNode {
  const lists = compareLists(from, to);
  const show = (each: unknown) => value(field, each);
  if (lists !== undefined) {
    const { added, removed } = lists;
    const names = (all: readonly unknown[]) => <Value>{all.map(show).join(', ')}</Value>;
    if (added.length + removed.length === 0) return `changed the order of ${noun}`;
    return (
      <>
        {added.length > 0 && (
          <>
            added {names(added)} to {noun}
          </>
        )}
        {added.length > 0 && removed.length > 0 && ' and '}
        {removed.length > 0 && <>removed {names(removed)}</>}
        {added.length === 0 && ` from ${noun}`}
      </>
    );
  }
  if (isLong(from) || isLong(to)) return <LongChange {...{ from, to, noun }} />;
  if (isNone(to)) return `removed ${noun}`;
  if (isNone(from))
    return (
      <>
        set {noun} to <Value>{show(to)}</Value>
      </>
    );
  return (
    <>
      changed {noun} from <del>{show(from)}</del> to <Value>{show(to)}</Value>
    </>
  );
}

/** A text that is no part of a sentence: its words are shown when somebody asks. */
function LongChange({ from, to, noun }: Pick<Change, 'from' | 'to'> & { noun: string }) {
  const verb = isNone(from) ? 'wrote' : isNone(to) ? 'removed' : 'rewrote';
  if (isDigest(from) || isDigest(to)) return `${verb} ${noun}`;
  const { before, after } = compareWords(textOf(from), textOf(to));
  return (
    <>
      {verb} {noun}
      <details className={css.words}>
        <summary>Words</summary>
        {!isNone(from) && (
          <del>
            <MarkedText pieces={before} />
          </del>
        )}
        {!isNone(to) && (
          <ins>
            <MarkedText pieces={isNone(from) ? [{ text: textOf(to), isSame: true }] : after} />
          </ins>
        )}
      </details>
    </>
  );
}

function leadSentence({ value }: Describe, { field, from, to }: Change, actor: string): ReactNode {
  const name = (id: unknown) => <Value>{value(field, id).replace(/^You$/, 'you')}</Value>;
  const former = !isNone(from) && String(from) !== actor;
  if (isNone(to)) return former ? <>removed the lead, {name(from)}</> : 'gave up the lead';
  const before = former && <> from {name(from)}</>;
  if (String(to) === actor) return <>took the lead{before}</>;
  return isNone(from) ? (
    <>made {name(to)} lead</>
  ) : (
    <>
      made {name(to)} lead instead of {name(from)}
    </>
  );
}

const holderName = (name: string, isActor: boolean): string => {
  if (name === 'You') return isActor ? 'yourself' : 'you';
  return isActor ? 'themselves' : name;
};

function holdersSentence(describe: Describe, { field, from, to }: Change, actor: string): ReactNode {
  const { added = [], removed = [] } = compareLists(from, to) ?? {};
  const isRole = field.startsWith(ROLE);
  const role = isRole ? describe.label(field) : 'responder';
  const names = (ids: readonly unknown[]) => (
    <Value>{ids.map((id) => holderName(describe.value(field, id), String(id) === actor)).join(', ')}</Value>
  );
  if (added.length + removed.length === 0) return `changed the order of the ${isRole ? role : 'responders'}`;
  return (
    <>
      {added.length > 0 && (
        <>
          {isRole ? 'made' : 'added'} {names(added)}{' '}
          {isRole ? role : added.length === 1 ? 'as responder' : 'as responders'}
        </>
      )}
      {added.length > 0 && removed.length > 0 && ' and '}
      {removed.length > 0 && (
        <>
          removed {names(removed)} as {role}
          {!isRole && removed.length > 1 && 's'}
        </>
      )}
    </>
  );
}

function relationSentence({ field, from, to }: Change): ReactNode {
  const type = field.slice(RELATION.length);
  const { added, removed } = compareLists(from, to) ?? {
    added: isNone(to) ? [] : [to],
    removed: isNone(from) ? [] : [from],
  };
  const names = (all: readonly unknown[]) => <Value>{all.map(toText).join(', ')}</Value>;
  return (
    <>
      {added.length > 0 && (
        <>
          marked it as {RELATIONS[type] ?? type} {names(added)}
        </>
      )}
      {added.length > 0 && removed.length > 0 && ' and '}
      {removed.length > 0 && (
        <>
          took back that it is {RELATIONS[type] ?? type} {names(removed)}
        </>
      )}
    </>
  );
}

function followUpSentence(
  describe: Describe,
  { field, from, to }: Change,
  { property, title }: { property: string | undefined; title: string | undefined },
): ReactNode {
  if (property === undefined)
    return isNone(to) ? (
      <>
        deleted the follow-up <del>{describe.value(field, from)}</del>
      </>
    ) : (
      <>
        added a follow-up <Value>{describe.value(field, to)}</Value>
      </>
    );
  const named =
    title === undefined ? (
      'a follow-up'
    ) : (
      <>
        the follow-up <Value>{title}</Value>
      </>
    );
  if (property === 'status')
    return (
      <>
        {FOLLOW_UP_VERBS[String(to)] ?? 'changed'} {named}
      </>
    );
  return (
    <>
      {propertySentence(describe, { field, from, to }, nounOf({ ...describe, label: labelOfPart(describe) }, field))} of{' '}
      {named}
    </>
  );
}

const labelOfPart =
  ({ label }: Describe) =>
  (field: string) =>
    NOUNS[PART.exec(field)?.[3] ?? ''] ?? label(field).replace(/^[^:]+: /, '');

function eventSentence(describe: Describe, { field, from, to }: Change, property: string | undefined): ReactNode {
  if (property === undefined)
    return isNone(to) ? (
      <>
        deleted the event <del>{describe.value(field, from)}</del>
      </>
    ) : (
      <>
        added the event <Value>{describe.value(field, to)}</Value>
      </>
    );
  if (property === 'deleted_at') return 'restored the event';
  return propertySentence(
    describe,
    { field, from, to },
    `the ${labelOfPart(describe)(field).toLowerCase()} of an event`,
  );
}
