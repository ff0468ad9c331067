import type { ChangelogEntry, Incident } from '@tocsin/sdk';
import { Link } from '@tanstack/react-router';
import { Fragment, useState } from 'react';
import { PART } from '../incidents/describe.ts';
import { Button, classes } from '../ui/button.tsx';
import { formatClock, formatExact, plural } from '../ui/format.ts';
import { Badge } from '../ui/texts.tsx';
import css from './activity.module.css';
import { Actor, isKey } from './actor.tsx';
import { type Change, changesOf } from './runs.ts';
import { useEditedIncident } from './save-incident.tsx';
import { useSentences } from './sentences.tsx';
import { DeletedEvent } from './timeline-event.tsx';

/** Sentences of a run before it is opened. */
const SHOWN = 3;

/** What the service changes besides. */
const CONSEQUENCES = ['severity_mode', 'issue_type', 'archived_by'];

const causesOf = (changes: readonly Change[]) => {
  const causes = changes.filter(({ field }) => !CONSEQUENCES.includes(field));
  return causes.length > 0 ? causes : changes;
};

/** Leads to the incident as it was at a revision. */
const AsOf = ({ id, revision }: { id: string; revision: number }) => (
  <Link to="/incidents/$id" params={{ id }} search={{ revision }} className={css.asOf}>
    As of here
  </Link>
);

export const Declared = ({ created_by: by, created_by_key: key, human_id: id, imported_at: imported }: Incident) => (
  <p className={css.change}>
    <Actor id={by} apiKey={key} /> declared {id} {imported === null && <AsOf id={id} revision={1} />}
  </p>
);

/** What changes did, in a sentence, and the way back of what they deleted. */
function Sentences({ changes, actor }: { changes: readonly Change[]; actor: string }) {
  const { canEdit } = useEditedIncident();
  const sentenceOf = useSentences();
  return changes.map((change, index) => {
    const [, part, id, property] = PART.exec(change.field) ?? [];
    const isDeletion = part === 'timeline_events' && property === undefined && change.to === null;
    return (
      <Fragment key={change.field}>
        {index > 0 && ', '}
        {sentenceOf(change, actor)}
        {isDeletion && canEdit && <DeletedEvent id={Number(id)} />}
      </Fragment>
    );
  });
}

/** What somebody changed at once, or one time after the other: then in all, and each for itself if asked. */
export function Changes({ run, incident: { human_id: id } }: { run: readonly ChangelogEntry[]; incident: Incident }) {
  const [isOpen, setOpen] = useState(false);
  const [first] = run;
  if (first === undefined) return null;
  const { actor, api_key: key, imported } = first;
  // A key is not its owner.
  const person = isKey(key) ? '' : actor;
  const revision = Math.max(...run.map((entry) => entry.revision));
  const changes = causesOf(changesOf(run));
  const isFolded = run.length > 1;
  const shown = isFolded ? changes.slice(0, SHOWN) : changes;
  const more = changes.length - shown.length;
  return (
    <div className={css.change}>
      <div>
        <Actor id={actor} apiKey={key} /> {imported && <Badge>Imported</Badge>}
        {imported && ' '}
        {changes.length === 0 ? (
          'changed something and took it back'
        ) : (
          <Sentences changes={shown} actor={person} />
        )}{' '}
        {isFolded && (
          <Button kind="quiet" small aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {more > 0 ? `and ${more} more` : plural(run.length, 'change')}
          </Button>
        )}{' '}
        {!imported && !isOpen && <AsOf id={id} revision={revision} />}
      </div>
      {isOpen && (
        <ol className={css.run}>
          {run.map((entry) => (
            <li key={entry.id} className={classes(css.change, css.step)}>
              <time dateTime={entry.changed_at} title={formatExact(entry.changed_at)}>
                {formatClock(entry.changed_at)}
              </time>
              <div>
                <Sentences changes={causesOf(entry.changes)} actor={person} />{' '}
                {!imported && <AsOf id={id} revision={entry.revision} />}
              </div>
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}
