import { Dialog } from '../ui/dialogs.tsx';
import { Check } from '../ui/fields.tsx';
import ui from '../ui/ui.module.css';
import { setSingleKeys, singleKeys } from '../ui/use-keys.ts';
import css from './palette.module.css';
import { ALL_PLACES } from './places.ts';

/** What keys do on the page of an incident; the palette has it, too. */
export const INCIDENT_KEYS: readonly (readonly [keys: string, does: string])[] = [
  ['n', 'Write to the timeline'],
  ['s', 'Change the status of the incident'],
  ['v', 'Change its severity'],
  ['l', 'Change its lead'],
  ['a', 'Assign it to me'],
  ['e', 'Edit its title'],
  ['r', 'Resolve or reopen it'],
  ['y', 'Copy its address'],
];

const KEYS: readonly (readonly [keys: string, does: string])[] = [
  ['Ctrl K', 'Find an incident, a service, a page or what to do'],
  ['c', 'Declare an incident'],
  ['j k', 'Go through the list; Enter opens'],
  ['x', 'Select the incident in the list'],
  ['/', 'Search'],
  ...INCIDENT_KEYS,
  ...ALL_PLACES.map(([, name, , key]) => [`g ${key}`, name] as const),
  ['?', 'Show these keys'],
  ['Ctrl Enter', 'Send what a dialogue or a text asks for'],
  ['Esc', 'Leave a dialogue or a field'],
];

export const KeysHelp = ({ onClose }: { onClose: () => void }) => (
  <Dialog title="Keys" onClose={onClose}>
    <div className={ui.form}>
      <Check label="Keys without Ctrl work" value={singleKeys.useValue()} onValue={setSingleKeys} />
      <dl className={css.keys} tabIndex={0} aria-label="Keys">
        {KEYS.map(([keys, does]) => (
          <div key={keys} style={{ display: 'contents' }}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </div>
  </Dialog>
);
