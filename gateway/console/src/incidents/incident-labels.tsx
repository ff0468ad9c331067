import type { Incident } from '@tocsin/sdk';
import type { CSSProperties } from 'react';
import { useConfiguration, useServices } from '../api/hooks.ts';
import { classes } from '../ui/button.tsx';
import { useNow } from '../ui/format.ts';
import { Icon } from '../ui/icon.tsx';
import { Badge } from '../ui/texts.tsx';
import css from '../ui/ui.module.css';

/** Tokens of sessions and agents begin with others: these act for people who look. */
const API_KEY = 'tcs_';
/** The colours that severities have until somebody chooses others. The page has its own shades of them, by theme. */
const DEFAULT_COLOURS = ['#d92d20', '#f79009', '#fdb022', '#667085'];
/** What a field of the browser can choose. The API takes any text. */
const COLOUR = /^#[\da-f]{6}$/i;

/** The colour that a field shows for a text of the API. */
export const colourOf = (text: string | undefined): string => (COLOUR.test(text ?? '') ? String(text) : '#667085');

/** Black or white, whichever is read better on a colour (WCAG 2.2, relative luminance). */
function textOn(colour: string): string {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? '#000000' : '#ffffff';
}

/** The colour of a severity, and that of a text on it. */
export function useSeverityColour(): (key: string) => { colour: string; text: string } {
  const { severities } = useConfiguration();
  return (key) => {
    const index = severities.findIndex((severity) => severity.key === key);
    const chosen = severities[index]?.color.toLowerCase() ?? '';
    const shade = DEFAULT_COLOURS.indexOf(chosen);
    if (shade === -1 && COLOUR.test(chosen)) return { colour: chosen, text: textOn(chosen) };
    const last = DEFAULT_COLOURS.length - 1;
    const severity = shade !== -1 ? shade : index === -1 ? last : Math.min(index, last);
    return { colour: `var(--sev-${severity})`, text: `var(--sev-${severity}-text)` };
  };
}

export function SeverityBadge({ value }: { value: string }) {
  const { severities } = useConfiguration();
  const { colour, text } = useSeverityColour()(value);
  const label = severities.find(({ key }) => key === value)?.label ?? value;
  return (
    <span className={classes(css.badge, css.sev)} style={{ '--sev': colour, '--sev-text': text } as CSSProperties}>
      {label}
    </span>
  );
}

export function StatusText({ value }: { value: string }) {
  const { statuses } = useConfiguration();
  const status = statuses.find(({ key }) => key === value);
  const isOver = status?.is_terminal === true;
  return (
    <span className={classes(css.status, isOver && css.muted)}>
      <span
        className={isOver ? css.open : css.dot}
        style={COLOUR.test(status?.color ?? '') ? { color: status?.color } : undefined}
        aria-hidden="true"
      />
      {status?.label ?? value}
    </span>
  );
}

/** That an incident exists only for few. */
export const Restricted = () => (
  <span>
    <Badge tone="warn">
      <Icon name="lock" size={12} />
      Restricted
    </Badge>
  </span>
);

/** That the update which others were promised is due. */
export function UpdateDue({ incident: { next_update_at: next, status } }: { incident: Incident }) {
  const { statuses } = useConfiguration();
  const isOver = statuses.find(({ key }) => key === status)?.is_terminal === true;
  const now = useNow();
  const isDue = next !== null && !isOver && Date.parse(next) <= now;
  return isDue && <Badge tone="warn">Update due</Badge>;
}

/** The name of a service of the catalog; another text as it is. */
export const ServiceName = ({ slug }: { slug: string }) => (
  <span>{useServices().data?.find((service) => service.slug === slug)?.name ?? slug}</span>
);

/** Which monitor, or other program with a key, declared an incident; nothing if a person did. */
export function DeclaredByKey({ incident: { created_by_key: key } }: { incident: Incident }) {
  if (key?.prefix.startsWith(API_KEY) !== true) return null;
  return (
    <span title={`Declared with the key ${key.name}`} className={css.marked}>
      <Icon name="key" size={12} />
      <span className={css.hidden}>Declared with the key </span>
      {key.name}
    </span>
  );
}

/** The services that an input with this list suggests. */
export const ServiceNames = ({ id }: { id: string }) => (
  <datalist id={id}>
    {useServices().data?.map(({ slug, name }) => (
      <option key={slug} value={slug}>
        {name}
      </option>
    ))}
  </datalist>
);

/** How far a written post-mortem is. */
export const POSTMORTEM_STATES = [
  ['draft', 'Draft'],
  ['in_review', 'In review'],
  ['published', 'Published'],
] as const;

export const postmortemState = (state: string): string =>
  POSTMORTEM_STATES.find(([key]) => key === state)?.[1] ?? state;

export const PostmortemBadge = ({ state }: { state: string }) => (
  <Badge tone={state === 'published' ? 'good' : 'plain'}>{postmortemState(state)}</Badge>
);
