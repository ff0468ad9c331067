import { useEffect } from 'react';
import { useMinutesLeft } from './activity.ts';
import { useMe, useWrite } from '../api/hooks.ts';
import { classes } from '../ui/button.tsx';
import { plural, useNow } from '../ui/format.ts';
import ui from '../ui/ui.module.css';

/** Says that the session ends because nobody is there, and then ends it. */
export function IdleNotice({ className, onEnd }: { className: string | undefined; onEnd: () => void }) {
  const now = useNow();
  const left = useMinutesLeft(now);
  const { data } = useMe();
  const { mutate, isPending } = useWrite('/');
  const id = data?.api_key.id;
  useEffect(() => {
    if (left !== 0 || id === undefined || isPending) return;
    onEnd();
    // Without a connection, the next minute tries again.
    mutate({ path: `/settings/sessions/${id}/revoke` });
  }, [left, id, now]);
  if (left === undefined) return null;
  return (
    <p role="alert" className={classes(ui.notice, className)}>
      Nobody has used this browser for almost 12 hours: you will be signed out in {plural(left, 'minute')}. Press any
      key to stay.
    </p>
  );
}
