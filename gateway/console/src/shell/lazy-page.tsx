import { type ErrorComponentProps, lazyRouteComponent } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Empty, Loading } from '../ui/states.tsx';
import ui from '../ui/ui.module.css';

/** Has when this tab last reloaded itself; milliseconds. */
const RELOADED = 'reloaded';
/** Milliseconds within which a tab does not reload itself again: gateways of two releases may answer in turn. */
const ONCE_IN = 60_000;

/** That the script of a page did not arrive. */
class MissingScript extends Error {}

/** A page that is loaded when somebody goes to it, or is about to. */
export const lazyPage = <Module extends Record<string, unknown>, Name extends keyof Module & string>(
  load: () => Promise<Module>,
  name: Name,
) =>
  lazyRouteComponent(async () => {
    try {
      return await load();
    } catch (cause) {
      // Under a name of its own, because the router reloads for what browsers say, offline, too.
      throw new MissingScript('The page could not be loaded', { cause });
    }
  }, name);

export const PendingPage = () => (
  <div className={ui.page}>
    <Loading />
  </div>
);

/**
 * Stands for a page that failed. After an update, the server no longer has the scripts of the page that is open: it
 * reloads, once, if the server answers at all.
 */
export function FailedPage({ error }: ErrorComponentProps) {
  const isMissing = error instanceof MissingScript;
  const [isWaiting, setWaiting] = useState(isMissing);
  useEffect(() => {
    if (!isMissing) return;
    void canReload().then((can) => (can ? window.location.reload() : setWaiting(false)));
  }, [isMissing]);
  if (isWaiting) return <PendingPage />;
  return (
    <div className={ui.page}>
      <Empty
        title={isMissing ? 'This page could not be loaded' : 'This page failed'}
        heading="h1"
        icon={isMissing ? 'offline' : 'alert'}
        action={<Button onClick={() => window.location.reload()}>Reload</Button>}
      >
        {isMissing
          ? 'The server was updated, or cannot be reached. Check the connection.'
          : 'What you have written is kept in this tab.'}
      </Empty>
    </div>
  );
}

/** Whether the server answers, and this tab has not just reloaded itself; says that it does. */
async function canReload(): Promise<boolean> {
  const last = Number(sessionStorage.getItem(RELOADED));
  if (Date.now() - last < ONCE_IN) return false;
  const { ok } = await fetch('/app/', { method: 'HEAD', cache: 'no-store' }).catch(() => ({ ok: false }));
  if (ok) sessionStorage.setItem(RELOADED, String(Date.now()));
  return ok;
}
