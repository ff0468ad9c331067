/** The labels of each series that a process exports, with their values. */
export type Exported = Map<string, Map<string, Set<string>>>;

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? \S+$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

/** Adds the samples of a response with metrics, in Prometheus' text format. @throws Error at a malformed line */
export function addSamples(exported: Exported, text: string): void {
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const [, name = '', labels = ''] = SAMPLE.exec(line) ?? [];
    if (name === '') throw new Error(`not a sample: ${line}`);
    const values = exported.get(name) ?? new Map<string, Set<string>>();
    exported.set(name, values);
    for (const [, label = '', value = ''] of labels.matchAll(LABEL)) {
      values.set(label, (values.get(label) ?? new Set()).add(value));
    }
  }
}
