import { type MouseEvent } from 'react';
import { Button } from './button.tsx';
import css from './ui.module.css';

/** What has the focus once an item of a list is gone: the next one, or else what stands below the list. */
function focusBeside({ currentTarget }: MouseEvent<HTMLElement>): void {
  const item = currentTarget.closest('li');
  const beside = item?.nextElementSibling ?? item?.previousElementSibling ?? item?.parentElement?.nextElementSibling;
  beside?.querySelector<HTMLElement>('input:not([readonly]), textarea, button')?.focus();
}

/** The buttons that move an item in its list, and remove it. */
export const MoveTools = ({
  label,
  isFirst,
  isLast,
  onMove,
  onRemove,
}: {
  label: string;
  isFirst: boolean;
  isLast: boolean;
  onMove: (by: number) => void;
  onRemove: () => void;
}) => (
  <span className={css.tools}>
    {(
      [
        ['up', '↑', -1, isFirst],
        ['down', '↓', 1, isLast],
      ] as const
    ).map(([direction, arrow, by, isAtEnd]) => (
      <Button
        key={direction}
        kind="quiet"
        small
        // Not disabled: whoever moves with the keyboard would lose the focus at the end.
        aria-disabled={isAtEnd}
        aria-label={`Move ${label} ${direction}`}
        onClick={() => !isAtEnd && onMove(by)}
      >
        {arrow}
      </Button>
    ))}
    <RemoveButton label={label} onRemove={onRemove} />
  </span>
);

/** Adds an item to a list. */
export const AddButton = ({ onAdd }: { onAdd: () => void }) => (
  <div>
    <Button small icon="plus" onClick={onAdd}>
      Add
    </Button>
  </div>
);

/** Removes an item of a list. */
export const RemoveButton = ({ label, onRemove }: { label: string; onRemove: () => void }) => (
  <Button
    kind="quiet"
    small
    icon="close"
    aria-label={`Remove ${label}`}
    onClick={(event) => {
      focusBeside(event);
      onRemove();
    }}
  />
);

/** A list with an item at another place. */
export function moved<Item>(items: readonly Item[], index: number, by: number): Item[] {
  const item = items[index] as Item;
  return items.toSpliced(index, 1).toSpliced(index + by, 0, item);
}
