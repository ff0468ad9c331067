/** A label of Alertmanager's `groupKey`, whose value is quoted as in Go. */
const LABEL = /\b(\w+)=("(?:[^"\\]|\\.)*")/g;

/**
 * The identity of a group of alerts for people: the labels by which Alertmanager groups, the name of the alert first.
 * Others are written by people or programs of their own, and stay.
 */
export function readableIdentity(identity: string): string {
  const group = /^\{.*\}:\{(.*)\}$/s.exec(identity)?.[1];
  const labels = [...(group ?? '').matchAll(LABEL)].map(([, name = '', value = '']) => ({
    name,
    value: unquoted(value),
  }));
  if (labels.length === 0) return identity;
  const [named, others] = [true, false].map((isName) => labels.filter(({ name }) => (name === 'alertname') === isName));
  return [
    ...(named ?? []).map(({ value }) => value),
    ...(others ?? []).map(({ name, value }) => `${name} ${value}`),
  ].join(' · ');
}

function unquoted(text: string): string {
  try {
    return JSON.parse(text) as string;
  } catch {
    return text.slice(1, -1);
  }
}
