import type { FollowUp } from '@tocsin/sdk';
import { useList } from '../api/hooks.ts';
import { classes } from '../ui/button.tsx';
import { Card } from '../ui/layout.tsx';
import { Loaded, More } from '../ui/states.tsx';
import ui from '../ui/ui.module.css';
import { ListedFollowUp } from './follow-ups.tsx';

/** How many are shown at first. */
const SHOWN = 10;

/** What is left to do after the incidents of a service or a team. */
export function FollowUpsCard({ filter }: { filter: { service: string } | { team_id: number } }) {
  const list = useList<FollowUp>('/follow-ups', 'follow_ups', { ...filter, status: 'open', limit: SHOWN });
  return (
    <Card title="Open follow-ups">
      <Loaded query={list} rows={1}>
        {({ rows }) =>
          rows.length > 0 ? (
            <ul>
              {rows.map((followUp) => (
                <ListedFollowUp key={followUp.id} followUp={followUp} />
              ))}
            </ul>
          ) : (
            <p className={classes(ui.item, ui.muted)}>
              {list.hasNextPage ? 'None among those that are due first' : 'Nothing is left to do'}
            </p>
          )
        }
      </Loaded>
      <More list={list} />
    </Card>
  );
}
