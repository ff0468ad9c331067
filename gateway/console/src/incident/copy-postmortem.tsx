import type { Incident } from '@tocsin/sdk';
import { useState } from 'react';
import { read } from '../api/client.ts';
import { sayError } from '../api/failures.ts';
import { Button } from '../ui/button.tsx';
import { say } from '../ui/toast.tsx';

/** Copies the post-mortem of an incident as Markdown. */
export function CopyPostmortem({ incident: { id, human_id: name } }: { incident: Incident }) {
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
    <Button icon="copy" kind="quiet" busy={busy} onClick={() => void copy()}>
      Copy post-mortem
    </Button>
  );
}
