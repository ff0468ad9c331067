import { type ChangelogEntry, TocsinError } from '@tocsin/sdk';
import { useState } from 'react';
import { read, write } from '../api/client.ts';
import { useActorOf } from '../api/hooks.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialogs.tsx';
import { formatName, formatValue } from '../ui/format.ts';
import { Table } from '../ui/table.tsx';
import { Ago } from '../ui/texts.tsx';
import ui from '../ui/ui.module.css';
import { compareWords } from '../ui/compare-words.ts';
import { MarkedText } from '../ui/marked-text.tsx';

export type Values = Readonly<Record<string, unknown>>;

/** What somebody changes, what they were shown when they began, and its revision. */
export interface Edit {
  changes: Values;
  base: Values;
  revision: number;
}

/** Where an edit is saved. */
/** Who changed something, and when. */
export interface Changed {
  actor: string;
  apiKey: ChangelogEntry['api_key'];
  at: string;
}

export interface Target {
  read: () => Promise<{ values: Values; revision: number }>;
  /** Who changed properties last, if it is recorded. */
  changed?: (names: readonly string[]) => Promise<ReadonlyMap<string, Changed>>;
  /** @throws TocsinError 412 if the resource is no longer as `on` says */
  write: (changes: Values, on: Omit<Edit, 'changes'>) => Promise<unknown>;
}

/** A resource of the API, which has a revision. */
export const resourceAt = (path: string): Target => ({
  read: async () => {
    const [stored = { revision: 0 }] = Object.values(await read<Record<string, { revision: number }>>(path));
    return { values: { ...stored }, revision: stored.revision };
  },
  write: async (changes, { revision }) => write({ method: 'PATCH', path, body: changes, revision }),
});

/** Names and values for people. */
export interface Describe {
  label: (name: string) => string;
  value: (name: string, value: unknown) => string;
}

const PLAIN: Describe = { label: formatName, value: (_, value) => formatValue(value) };

const isNone = (value: unknown) =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
/** Whether values are the same. A property that is left out is none. */
export const equal = (a: unknown, b: unknown): boolean =>
  (isNone(a) && isNone(b)) || JSON.stringify(a) === JSON.stringify(b);

/** What a change of a list adds and removes. @returns undefined unless both are lists */
export function compareLists(before: unknown, after: unknown) {
  const [from, to] = [before ?? [], after ?? []];
  if (!Array.isArray(from) || !Array.isArray(to) || (!Array.isArray(before) && !Array.isArray(after))) return undefined;
  return {
    added: (to as unknown[]).filter((each) => !from.includes(each)),
    removed: (from as unknown[]).filter((each) => !to.includes(each)),
  };
}

/** A list with what both have added, without what one of them has removed. */
function join(base: unknown, theirs: unknown, mine: unknown): unknown {
  const { added, removed } = compareLists(base, mine) ?? { added: [], removed: [] };
  const list = ((theirs ?? []) as unknown[]).filter((each) => !removed.includes(each));
  return [...list, ...added.filter((each) => !list.includes(each))];
}

/** Whether words of a value can be compared. */
const isText = (value: unknown): value is string => typeof value === 'string' && /\s/.test(value);

type Answer = 'back' | 'theirs' | 'mine' | 'both';

interface Question extends Omit<Edit, 'revision'> {
  /** What is stored now. */
  current: Values;
  names: readonly string[];
  changed: ReadonlyMap<string, Changed>;
  settle: (answer: Answer) => void;
}

/**
 * Saves edits on the revision that was shown when they began. If somebody else has changed other properties meanwhile, it
 * saves them on top; if they have changed the same ones, it asks which version is to stay.
 */
export function useConflict(describe: Describe = PLAIN) {
  const [question, setQuestion] = useState<Question>();
  /** @returns whether the edit is settled; if not, its author goes on with it. @throws TocsinError */
  const save = async (edit: Edit, target: Target): Promise<boolean> => {
    let { changes, base, revision } = edit;
    for (;;) {
      try {
        await target.write(changes, { base, revision });
        return true;
      } catch (error) {
        if (!(error instanceof TocsinError) || error.status !== 412) throw error;
      }
      const current = await target.read();
      const shown = { changes, base, current: current.values };
      const names = Object.keys(changes).filter(
        (name) => !equal(current.values[name], shown.base[name]) && !equal(current.values[name], shown.changes[name]),
      );
      if (names.length > 0) {
        // Without them, the versions are still to be chosen from.
        const changed = (await target.changed?.(names).catch(() => undefined)) ?? new Map<string, Changed>();
        const answer = await new Promise<Answer>((settle) => setQuestion({ ...shown, names, changed, settle }));
        setQuestion(undefined);
        if (answer === 'back') return false;
        changes = settled(shown, names, answer);
        if (Object.keys(changes).length === 0) return true;
      }
      ({ values: base, revision } = current);
    }
  };
  return { save, conflict: question && <ConflictDialog {...question} describe={describe} /> };
}

function settled(
  { changes, base, current }: Omit<Question, 'names' | 'changed' | 'settle'>,
  names: readonly string[],
  answer: Answer,
): Values {
  const kept = Object.entries(changes).filter(([name]) => answer !== 'theirs' || !names.includes(name));
  return Object.fromEntries(
    kept.map(([name, mine]) => [
      name,
      answer === 'both' && names.includes(name) ? join(base[name], current[name], mine) : mine,
    ]),
  );
}

/** Both versions of what two people changed at the same time. */
function ConflictDialog({
  changes,
  base,
  current,
  names,
  changed,
  settle,
  describe,
}: Question & { describe: Describe }) {
  const actorOf = useActorOf();
  const compare = (values: Values, name: string) => compareLists(base[name], values[name]);
  const areLists = names.every((name) => compare(changes, name) !== undefined);
  const version = (values: Values, side: 'before' | 'after') => (name: string) => {
    const lists = compare(values, name);
    const [theirs, mine] = [current[name], changes[name]];
    const show = (value: unknown) => describe.value(name, value);
    return (
      <div className={ui.version}>
        {lists !== undefined ? (
          <ListChange {...lists} show={show} />
        ) : isText(theirs) && isText(mine) ? (
          <MarkedText pieces={compareWords(theirs, mine)[side]} />
        ) : (
          show(values[name])
        )}
      </div>
    );
  };
  return (
    <Dialog title="Somebody else changed this, too" onClose={() => settle('back')}>
      <div className={ui.form}>
        {names.map((name) => {
          const { actor, apiKey, at } = changed.get(name) ?? {};
          return (
            actor !== undefined && (
              <p key={name} className={ui.muted}>
                {actorOf(actor, apiKey ?? null)} changed {describe.label(name)} <Ago time={at} />
              </p>
            )
          );
        })}
        <Table
          rows={names}
          keyOf={(name) => name}
          columns={[
            ['Property', describe.label, { kind: 'head' }],
            ['Now', version(current, 'before')],
            ['Yours', version(changes, 'after'), { className: ui.strong }],
          ]}
        />
        <div className={ui.actions}>
          <Button kind="quiet" onClick={() => settle('back')}>
            Go on writing
          </Button>
          <Button onClick={() => settle('theirs')}>Keep theirs</Button>
          <Button kind={areLists ? 'normal' : 'primary'} onClick={() => settle('mine')}>
            Save mine
          </Button>
          {areLists && (
            <Button kind="primary" onClick={() => settle('both')}>
              Save both
            </Button>
          )}
        </div>
      </div>
    </Dialog>
  );
}

/** What was added to a list, and what was removed. */
const ListChange = ({
  added,
  removed,
  show,
}: {
  added: readonly unknown[];
  removed: readonly unknown[];
  show: (value: unknown) => string;
}) =>
  [
    added.length > 0 && `added ${added.map(show).join(', ')}`,
    removed.length > 0 && `removed ${removed.map(show).join(', ')}`,
  ]
    .filter(Boolean)
    .join('; ') || 'in another order';
