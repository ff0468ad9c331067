import type { FormerPostmortem, GetIncidentPostmortemRevisionReply, PostmortemDocument } from '@tocsin/sdk';
import { useState } from 'react';
import { useActorOf, useGet, useList } from '../api/hooks.ts';
import { PostmortemBadge } from '../incidents/incident-labels.tsx';
import { Button } from '../ui/button.tsx';
import { Card } from '../ui/layout.tsx';
import { Loaded, More } from '../ui/states.tsx';
import { Ago } from '../ui/texts.tsx';
import ui from '../ui/ui.module.css';
import css from './postmortem.module.css';
import { SectionText, titleText } from './postmortem-text.tsx';

/** Who changed the document to what it is or was, and what it said. */
export function Versions({ document }: { document: PostmortemDocument }) {
  const path = `/incidents/${document.incident_id}/postmortem/revisions`;
  const list = useList<FormerPostmortem>(path, 'former', { limit: 20 });
  return (
    <div className={css.versions}>
      <Card title="Versions">
        <ul>
          <Version version={document} />
          {list.data?.rows.map((version) => (
            <Version key={version.revision} version={version} path={`${path}/${version.revision}`} />
          ))}
        </ul>
        <Loaded query={list} rows={1}>
          {() => <More list={list} />}
        </Loaded>
      </Card>
    </div>
  );
}

function Version({ version, path }: { version: FormerPostmortem; path?: string }) {
  const actorOf = useActorOf();
  const [isOpen, setOpen] = useState(false);
  const { revision, state, updated_at: time, updated_by: by, updated_by_key: key } = version;
  return (
    <li className={ui.item}>
      <div className={ui.row}>
        <span className={ui.strong}>Version {revision}</span>
        <PostmortemBadge state={state} />
        <span className={ui.muted}>
          {actorOf(by, key)}, <Ago time={time} />
        </span>
        {path === undefined ? (
          <span className={ui.muted}>as it is now</span>
        ) : (
          <Button kind="quiet" small aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            What it said<span className={ui.hidden}> in version {revision}</span>
          </Button>
        )}
      </div>
      {isOpen && path !== undefined && <WhatItSaid path={path} />}
    </li>
  );
}

function WhatItSaid({ path }: { path: string }) {
  const query = useGet<GetIncidentPostmortemRevisionReply>(path);
  return (
    <Loaded query={query} rows={2}>
      {({ former: { sections } }) => (
        <div className={css.former}>
          {sections.map(({ key, title, body }) => (
            <div key={key}>
              {title && <p className={ui.strong}>{titleText(title)}</p>}
              <SectionText body={body} />
            </div>
          ))}
        </div>
      )}
    </Loaded>
  );
}
