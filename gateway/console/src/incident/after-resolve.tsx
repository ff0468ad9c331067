import type { Incident } from '@tocsin/sdk';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { FollowUpDialog } from '../follow-ups/follow-up-row.tsx';
import { Button, buttonClass, classes } from '../ui/button.tsx';
import ui from '../ui/ui.module.css';
import css from './incident.module.css';

/** What people do next after they have resolved an incident. It has the focus, which the button had that is gone. */
export function AfterResolve({ incident, onClose }: { incident: Incident; onClose: () => void }) {
  const section = useRef<HTMLElement>(null);
  const [isAdding, setAdding] = useState(false);
  useEffect(() => section.current?.focus(), []);
  return (
    <section ref={section} tabIndex={-1} aria-label="What is left" className={classes(ui.row, css.after)}>
      <p>
        <span className={ui.strong}>{incident.human_id} is over.</span> What is left?
      </p>
      <Button small icon="plus" onClick={() => setAdding(true)}>
        Add what is left to do
      </Button>
      <Link to="/incidents/$id/postmortem" params={{ id: incident.human_id }} className={buttonClass('normal', true)}>
        {incident.postmortem_state === null ? 'Write the post-mortem' : 'Read the post-mortem'}
      </Link>
      <Button kind="quiet" small onClick={onClose}>
        Nothing more
      </Button>
      {isAdding && <FollowUpDialog incidentId={incident.id} onClose={() => setAdding(false)} />}
    </section>
  );
}
