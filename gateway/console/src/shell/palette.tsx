import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useId, useState } from 'react';
import { useConfiguration, useServices, useTeams } from '../api/hooks.ts';
import { classes } from '../ui/button.tsx';
import { Dialog } from '../ui/dialogs.tsx';
import ui from '../ui/ui.module.css';
import { handlerOf, isComposing } from '../ui/use-keys.ts';
import { useGuides } from '../guides/use-guides.ts';
import { useFoundIncidents } from '../incidents/found-incidents.ts';
import css from './palette.module.css';
import { INCIDENT_KEYS } from './keys-help.tsx';
import { ALL_PLACES } from './places.ts';
import { ranked, remember } from './recent.ts';

interface Entry {
  /** Its kind and ID. */
  id: string;
  name: string;
  /** What kind it is, or more about it. */
  about: string;
  run: () => void;
}

/** Of each kind. */
const SHOWN = 6;

type Verbs = readonly (readonly [name: string, run: () => void])[];

/** What can be done with the incident that is open: what its keys do. */
const verbsOfIncident = (): Verbs =>
  INCIDENT_KEYS.flatMap(([key, name]) => {
    const handle = handlerOf(key);
    // Once the dialogue of the palette has given the focus back.
    return handle === undefined ? [] : [[name, () => void window.setTimeout(handle)] as const];
  });

/** The pages, services, teams, incidents and verbs that have a text in their names, the best and latest first. */
function useEntries(text: string, verbs: Verbs): Entry[] {
  const navigate = useNavigate();
  const { data: services = [] } = useServices();
  const { data: teams = [] } = useTeams();
  const { statuses } = useConfiguration();
  const isEmpty = text.trim() === '';
  const guides = useGuides({ enabled: !isEmpty }).data?.groups.flatMap((group) => group.guides) ?? [];
  const incidents = useFoundIncidents(text);
  const matches = (name: string) => name.toLowerCase().includes(text.trim().toLowerCase());
  const matchesIn = <Row,>(rows: readonly Row[], toEntry: (row: Row) => Entry, most = SHOWN): Entry[] =>
    rows
      .map(toEntry)
      .filter(({ name }) => matches(name))
      .slice(0, most);
  const entries = [
    ...incidents.map(({ human_id: id, title, status }) => ({
      id: `incident ${id}`,
      name: `${id} ${title}`,
      about: statuses.find(({ key }) => key === status)?.label ?? status,
      run: () => void navigate({ to: '/incidents/$id', params: { id } }),
    })),
    ...matchesIn(verbs, ([name, run]) => ({ id: `do ${name}`, name, about: 'Do', run }), verbs.length),
    ...matchesIn(isEmpty ? [] : services, ({ id, name }) => ({
      ...{ id: `service ${id}`, name, about: 'Service' },
      run: () => void navigate({ to: '/catalog/services/$id', params: { id: String(id) } }),
    })),
    ...matchesIn(isEmpty ? [] : teams, ({ id, name }) => ({
      ...{ id: `team ${id}`, name, about: 'Team' },
      run: () => void navigate({ to: '/catalog/teams/$id', params: { id: String(id) } }),
    })),
    ...matchesIn(isEmpty ? [] : guides, ({ name, title }) => ({
      ...{ id: `guide ${name}`, name: title, about: 'Guide' },
      run: () => void navigate({ to: '/guides/$name', params: { name } }),
    })),
    ...matchesIn(
      ALL_PLACES,
      ([to, name]) => ({ id: `page ${to}`, name, about: 'Page', run: () => void navigate({ to }) }),
      ALL_PLACES.length,
    ),
  ];
  return ranked(entries, text);
}

/** The search of everything, in a dialogue. */
export const Palette = ({ verbs, onClose }: { verbs: Verbs; onClose: () => void }) => (
  <Dialog title="Go to" onClose={onClose}>
    <Finder verbs={verbs} onChosen={onClose} />
  </Dialog>
);

/** Finds pages, services, teams, guides, incidents and what can be done, by a part of their names. */
export function Finder({ verbs = [], onChosen }: { verbs?: Verbs; onChosen?: () => void }) {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const box = useId();
  const [ofIncident, setOfIncident] = useState<Verbs>([]);
  useEffect(() => setOfIncident(verbsOfIncident()), []);
  const entries = useEntries(text, [...ofIncident, ...verbs]);
  const current = Math.min(chosen, entries.length - 1);
  const run = (entry: Entry | undefined) => {
    if (entry === undefined) return;
    remember(entry.id);
    onChosen?.();
    entry.run();
  };
  const onKey = (event: KeyboardEvent) => {
    if (isComposing(event.nativeEvent)) return;
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by !== undefined && entries.length > 0) setChosen((current + by + entries.length) % entries.length);
    else if (event.key === 'Enter') run(entries[current]);
    else return;
    event.preventDefault();
  };
  return (
    <form className={ui.form} onSubmit={(event) => event.preventDefault()}>
      <input
        className={ui.input}
        role="combobox"
        aria-label="Incident, service, team, page or verb"
        aria-expanded="true"
        aria-controls={`${box}-list`}
        aria-activedescendant={entries.length > 0 ? `${box}-${current}` : undefined}
        autoComplete="off"
        placeholder="INC-12, a service, a page, what to do"
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          setChosen(0);
        }}
        onKeyDown={onKey}
      />
      <div className={css.list} role="listbox" id={`${box}-list`} aria-label="Found">
        {entries.map((entry, index) => (
          <div
            key={entry.id}
            id={`${box}-${index}`}
            role="option"
            aria-selected={index === current}
            ref={index === current ? scrollTo : undefined}
            className={classes(css.entry, index === current && css.chosen)}
            onClick={() => run(entry)}
          >
            <span>{entry.name}</span>
            <span className={css.about}>{entry.about}</span>
          </div>
        ))}
      </div>
      {entries.length === 0 && <p role="status">Nothing has this name.</p>}
    </form>
  );
}

function scrollTo(node: HTMLElement | null): void {
  node?.scrollIntoView({ block: 'nearest' });
}
