import { type ReactNode, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { useDraft } from '../ui/drafts.ts';
import { plural } from '../ui/format.ts';
import css from './editable.module.css';
import { useEditedIncident } from './save-incident.tsx';

export interface FoldableTerm {
  /** As the API names it. */
  name: string;
  isEmpty: boolean;
  term: ReactNode;
}

/** What is not shown unless somebody has begun to write it. */
function Foldable({ name, isFolded, children }: { name: string; isFolded: boolean; children: ReactNode }) {
  const { id } = useEditedIncident();
  const [draft] = useDraft<unknown>(`${id} ${name}`);
  return (!isFolded || draft !== undefined) && children;
}

/**
 * Properties, the empty ones behind one line that opens. What was empty at first stays below that line, and what is
 * emptied above it: nothing moves while somebody works.
 */
export function FoldableTerms({ terms, one, many }: { terms: readonly FoldableTerm[]; one: string; many?: string }) {
  const { notRecorded = [] } = useEditedIncident();
  const [isOpen, setOpen] = useState(false);
  const [wasEmpty] = useState(() => new Map<string, boolean>());
  const isEmpty = (each: FoldableTerm) => each.isEmpty && !notRecorded.includes(each.name);
  for (const each of terms) if (!wasEmpty.has(each.name)) wasEmpty.set(each.name, isEmpty(each));
  const above = terms.filter(({ name }) => wasEmpty.get(name) === false);
  const below = terms.filter(({ name }) => wasEmpty.get(name) === true);
  const count = below.filter(isEmpty).length;
  return (
    <>
      {above.length > 0 && <dl>{above.map(({ term }) => term)}</dl>}
      {count > 0 && (
        <div className={css.fold}>
          <Button kind="quiet" small aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {plural(count, `empty ${one}`, many && `empty ${many}`)}
          </Button>
        </div>
      )}
      {below.length > 0 && (
        <dl>
          {below.map((each) => (
            <Foldable key={each.name} name={each.name} isFolded={isEmpty(each) && !isOpen}>
              {each.term}
            </Foldable>
          ))}
        </dl>
      )}
    </>
  );
}
