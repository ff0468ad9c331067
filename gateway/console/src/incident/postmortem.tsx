import type {
  Configuration,
  GetIncidentPostmortemReply,
  Incident,
  ListIncidentPostmortemRevisionsReply,
  Postmortem,
  PostmortemDocument,
  PostmortemSection,
} from '@tocsin/sdk';
import { BUILT_IN_TEMPLATE, sectionsOf } from '@tocsin/schemas/postmortem-template';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { write } from '../api/client.ts';
import { sayError } from '../api/failures.ts';
import { refresh, refreshExactly, useAccess, useActorOf, useContentKey, useGet, useNameOf } from '../api/hooks.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/dialogs.tsx';
import { Select } from '../ui/fields.tsx';
import { Icon } from '../ui/icon.tsx';
import { POSTMORTEM_STATES, PostmortemBadge } from '../incidents/incident-labels.tsx';
import { Loaded } from '../ui/states.tsx';
import { Ago } from '../ui/texts.tsx';
import ui from '../ui/ui.module.css';
import { Address } from './incident-address.tsx';
import incidentCss from './incident.module.css';
import { Exports } from './postmortem-exports.tsx';
import { NewSection, Section } from './postmortem-section.tsx';
import { SectionText, titleText } from './postmortem-text.tsx';
import { Versions } from './postmortem-versions.tsx';
import { usePolling } from './polling.ts';
import css from './postmortem.module.css';
import { sectionName, showDocument, STATE, textsOf, useSavePostmortem } from './save-postmortem.tsx';

/** `/incidents/INC-12/postmortem`: what people have written of an incident, with live parts. */
export const PostmortemAddress = () => (
  <Address to="/incidents/$id/postmortem">{(id) => <PostmortemPage id={id} />}</Address>
);

/** Milliseconds between two looks for texts of others, which cause no event. */
const INTERVAL = 5_000;

/** Reads the post-mortem again when somebody else has changed it. */
function useChanges(path: string, incident: Incident | undefined, document: PostmortemDocument | null | undefined) {
  const isBegun = document !== undefined && document !== null;
  const look = { enabled: isBegun, every: INTERVAL };
  const { data } = useGet<ListIncidentPostmortemRevisionsReply>(`${path}/revisions?limit=1`, look);
  const former = data?.former[0]?.revision ?? 0;
  const isOld = isBegun
    ? former >= document.revision
    : document === null && (incident?.postmortem_state ?? null) !== null;
  useEffect(() => {
    if (isOld) void refreshExactly(new Set([path]));
  }, [isOld, former, path]);
}

function PostmortemPage({ id }: { id: number }) {
  const path = `/incidents/${id}/postmortem`;
  const incident = useGet<{ incident: Incident }>(`/incidents/${id}`);
  const query = useGet<GetIncidentPostmortemReply>(path);
  useChanges(path, incident.data?.incident, query.data?.document);
  return (
    <div className={ui.page}>
      <Loaded query={incident} heading="h1">
        {({ incident: shown }) => (
          <>
            <Head incident={shown} document={query.data?.document ?? null} />
            <Loaded query={query}>{(reply) => <Shown key={id} incident={shown} {...reply} />}</Loaded>
          </>
        )}
      </Loaded>
    </div>
  );
}

function Head({ incident, document: written }: { incident: Incident; document: PostmortemDocument | null }) {
  const { human_id: reference, title } = incident;
  const [nameOf, actorOf] = [useNameOf(), useActorOf()];
  const inSentence = (name: string) => name.replace(/^You$/, 'you');
  const by = (...who: Parameters<typeof actorOf>) => inSentence(actorOf(...who));
  useEffect(() => void (document.title = `Post-mortem of ${reference} · Tocsin`), [reference]);
  return (
    <header className={css.head}>
      <Link to="/incidents/$id" params={{ id: reference }} className={incidentCss.back}>
        <Icon name="back" size={14} />
        <span className={ui.short} title={title}>
          {reference} {title}
        </span>
      </Link>
      <h1>Post-mortem of {reference}</h1>
      {written && (
        <p className={ui.facts}>
          <span>
            <PostmortemBadge state={written.state} />
          </span>
          <span>
            Begun <Ago time={written.created_at} /> by {by(written.created_by, written.created_by_key)}
          </span>
          {written.revision > 1 && (
            <span>
              changed <Ago time={written.updated_at} /> by {by(written.updated_by, written.updated_by_key)}
            </span>
          )}
          {written.in_review_at && (
            <span>
              in review since <Ago time={written.in_review_at} /> by {inSentence(nameOf(written.in_review_by ?? ''))}
            </span>
          )}
          {written.published_at && (
            <span>
              published <Ago time={written.published_at} /> by {inSentence(nameOf(written.published_by ?? ''))}
            </span>
          )}
        </p>
      )}
    </header>
  );
}

function Shown({ incident, postmortem, document }: GetIncidentPostmortemReply & { incident: Incident }) {
  const { canRespond } = useAccess();
  const canEdit = canRespond && incident.archived_at === null;
  usePolling(incident);
  if (document !== null) return <Written {...{ incident, postmortem, document, canEdit }} />;
  return (
    <div className={ui.stack}>
      <div className={css.bar}>
        {canEdit && <Begin incident={incident} />}
        <Exports incident={incident} />
      </div>
      <p className={ui.muted}>Nobody has begun to write. This is what Tocsin knows, and what the text begins with.</p>
      <Beginning postmortem={postmortem} canEdit={canEdit} />
    </div>
  );
}

/** What the post-mortem will begin as, for those who can begin it; others see what every incident has. */
function Beginning({ postmortem, canEdit }: { postmortem: Postmortem; canEdit: boolean }) {
  const { data } = useGet<{ configuration: Configuration }>('/settings/configuration', { enabled: canEdit });
  const template = data?.configuration.postmortem_template ?? '';
  return (
    <article className={css.paper} aria-label="Post-mortem">
      {sectionsOf(template === '' ? BUILT_IN_TEMPLATE : template).map(({ title, body }, index) => (
        <section key={index} className={css.section}>
          {title !== '' && <h2>{titleText(title, postmortem)}</h2>}
          <SectionText body={body} postmortem={postmortem} />
        </section>
      ))}
    </article>
  );
}

/** Whoever uses the keyboard goes on from what is there instead of a button that is gone. */
const focusSoon = (selector: string): void =>
  void window.setTimeout(() => document.querySelector<HTMLElement>(selector)?.focus());

function Begin({ incident: { id } }: { incident: Incident }) {
  const [busy, setBusy] = useState(false);
  const key = useContentKey();
  const begin = async () => {
    setBusy(true);
    try {
      const path = `/incidents/${id}/postmortem`;
      const { document } = await write<{ document: PostmortemDocument }>({ path, key: key.of(path), body: {} });
      await showDocument(id, document);
      void refresh(`/incidents/${id}`, '/incidents?');
      focusSoon('[data-edit-section]');
    } catch (error) {
      sayError(error);
      // Somebody else may have begun.
      void refresh(`/incidents/${id}`);
    }
    setBusy(false);
  };
  return (
    <Button kind="primary" busy={busy} onClick={() => void begin()}>
      Write the post-mortem
    </Button>
  );
}

function Written({
  incident,
  postmortem,
  document,
  canEdit,
}: {
  incident: Incident;
  postmortem: Postmortem;
  document: PostmortemDocument;
  canEdit: boolean;
}) {
  const { id } = incident;
  const { save, conflict } = useSavePostmortem(id, document);
  const [edited, setEdited] = useState<readonly PostmortemSection[]>([]);
  const [removed, setRemoved] = useState<PostmortemSection>();
  const [isOpen, setOpen] = useState(false);
  const { revision, sections, state } = document;
  const keys = sections.map(({ key }) => key);
  const setState = (next: string) =>
    void save({ changes: { [STATE]: next }, base: { [STATE]: state }, revision })
      .then(async () => refresh(`/incidents/${id}`, '/incidents?'))
      .catch(sayError);
  return (
    <div className={ui.stack}>
      <div className={css.bar}>
        {canEdit && (
          <Select bare label="State of the post-mortem" options={POSTMORTEM_STATES} value={state} onValue={setState} />
        )}
        <Button kind="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          Versions
        </Button>
        <Exports incident={incident} />
      </div>
      {isOpen && <Versions document={document} />}
      <article className={css.paper} aria-label="Post-mortem">
        {[...sections, ...edited.filter(({ key }) => !keys.includes(key))].map((section, index) => (
          <Section
            key={section.key}
            incidentId={id}
            place={index < sections.length ? { index, last: sections.length - 1 } : undefined}
            onEditing={(before, isEditing) =>
              setEdited((all) => [...all.filter(({ key }) => key !== before.key), ...(isEditing ? [before] : [])])
            }
            onRemove={() => setRemoved(section)}
            {...{ section, revision, postmortem, canEdit, save }}
          />
        ))}
        {canEdit && <NewSection incidentId={id} {...{ revision, postmortem, save }} />}
      </article>
      {removed && <Remove section={removed} revision={revision} save={save} onClose={() => setRemoved(undefined)} />}
      {conflict}
    </div>
  );
}

/** Asks before a section goes. */
function Remove({
  section,
  revision,
  save,
  onClose,
}: {
  section: PostmortemSection;
  revision: number;
  save: ReturnType<typeof useSavePostmortem>['save'];
  onClose: () => void;
}) {
  const [busy, setBusy] = useState(false);
  const name = sectionName(section.key);
  const remove = async () => {
    setBusy(true);
    try {
      await save({ changes: { [name]: null }, base: { [name]: textsOf(section) }, revision });
    } catch (error) {
      sayError(error);
    }
    onClose();
    focusSoon('[data-add-section]');
  };
  return (
    <Confirm
      title={`Remove ${section.title || 'the beginning'}`}
      label="Remove"
      busy={busy}
      error={null}
      onSubmit={() => void remove()}
      onClose={onClose}
    >
      Earlier versions keep what it says.
    </Confirm>
  );
}
