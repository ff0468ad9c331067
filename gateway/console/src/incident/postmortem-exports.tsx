import type { Incident } from '@tocsin/sdk';
import { useState } from 'react';
import { read } from '../api/client.ts';
import { sayError } from '../api/failures.ts';
import { Button } from '../ui/button.tsx';
import { say } from '../ui/toast.tsx';
import ui from '../ui/ui.module.css';

/** Copies the post-mortem of an incident as Markdown. */
function CopyPostmortem({ incident: { id, human_id: name } }: { incident: Incident }) {
  const [busy, setBusy] = useState(false);
  const copy = async () => {
    setBusy(true);
    const text = read<string>(`/incidents/${id}/postmortem`, { headers: { Accept: 'text/markdown' } });
    try {
      // The clipboard is asked at once, while the click allows it, and waits for the text.
      await navigator.clipboard.write([new ClipboardItem({ 'text/plain': text })]);
      say(`The post-mortem of ${name} is copied as Markdown.`);
    } catch {
      try {
        await text;
        say('The browser does not let this page copy: it needs HTTPS and your permission.');
      } catch (error) {
        sayError(error);
      }
    }
    setBusy(false);
  };
  return (
    <Button icon="copy" kind="quiet" small busy={busy} onClick={() => void copy()}>
      Copy<span className={ui.hidden}> post-mortem</span>
    </Button>
  );
}

const FILES = [
  ['Markdown', 'text/markdown', 'md'],
  ['HTML', 'text/html', 'html'],
] as const;

/** Ways to take the post-mortem elsewhere. */
export function Exports({ incident }: { incident: Incident }) {
  const { id, human_id: reference } = incident;
  const save = async (type: string, extension: string) => {
    try {
      const text = await read<string>(`/incidents/${id}/postmortem`, { headers: { Accept: type } });
      const url = URL.createObjectURL(new Blob([text], { type }));
      const link = document.createElement('a');
      link.href = url;
      link.download = `${reference}-post-mortem.${extension}`;
      link.click();
      // The browser has begun to read it.
      window.setTimeout(() => URL.revokeObjectURL(url), 10_000);
    } catch (error) {
      sayError(error);
    }
  };
  return (
    <div role="group" aria-label="Export" className={ui.tools}>
      <CopyPostmortem incident={incident} />
      {FILES.map(([name, type, extension]) => (
        <Button
          key={name}
          kind="quiet"
          small
          aria-label={`Download ${name}`}
          onClick={() => void save(type, extension)}
        >
          ↓ {name}
        </Button>
      ))}
      <Button kind="quiet" small onClick={() => window.print()}>
        Print
      </Button>
    </div>
  );
}
