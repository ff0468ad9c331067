import { type ComponentProps, type CSSProperties, type ReactNode, useId } from 'react';
import { Button } from './button.tsx';

/** Below the button, or above it where there is no space. Not in the style sheet, all of which the first screen loads. */
const PLACE: CSSProperties = {
  inset: 'auto',
  positionArea: 'bottom span-left',
  positionTryFallbacks: 'flip-block',
  justifySelf: 'end',
  margin: 'var(--s-1) 0',
  padding: 'var(--s-1)',
  border: '1px solid var(--line)',
  borderRadius: 'var(--radius)',
  background: 'var(--raised)',
  boxShadow: 'var(--shadow-high)',
};

/** Buttons behind one, above everything else: the browser closes it at Escape and at a click elsewhere. */
export function Menu({ label, children }: { label: string; children: ReactNode }) {
  const id = useId();
  return (
    <>
      <Button kind="quiet" small popoverTarget={id} aria-label={label}>
        ⋯
      </Button>
      {/* Closed first, so that a dialogue gives the focus back to the button above. */}
      <div id={id} popover="auto" style={PLACE} onClick={({ currentTarget }) => currentTarget.hidePopover()}>
        <div style={{ display: 'grid', minWidth: '10rem' }}>{children}</div>
      </div>
    </>
  );
}

export const MenuItem = (props: ComponentProps<typeof Button>) => (
  <Button kind="quiet" small style={{ justifyContent: 'start' }} {...props} />
);
