import type { Incident, TocsinError } from '@tocsin/sdk';
import { type InfiniteData, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate, useParams } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { read } from '../api/client.ts';
import { sayError } from '../api/failures.ts';
import { forgetIncidents, queryClient, useGet } from '../api/hooks.ts';
import { buttonClass } from '../ui/button.tsx';
import { forgetDraftsOf } from '../ui/drafts.ts';
import { Empty, Loaded } from '../ui/states.tsx';
import ui from '../ui/ui.module.css';
import { IncidentAsOf, IncidentPage } from './incident.tsx';

const route = getRouteApi('/incidents/$id');

/** Anybody may write an address: what it does not understand is left out. */
export const readRevision = ({ revision }: Record<string, unknown>): { revision?: number } =>
  Number.isSafeInteger(revision) && Number(revision) > 0 ? { revision: Number(revision) } : {};

/** The pages of an incident. */
interface AddressProps {
  to: '/incidents/$id' | '/incidents/$id/postmortem';
  children: (id: number) => ReactNode;
}

/** `/incidents/INC-12`, and `/incidents/7`, which leads there. */
export const IncidentAddress = () => <Address to="/incidents/$id">{(id) => <AtRevision id={id} />}</Address>;

function AtRevision({ id }: { id: number }) {
  const { revision } = route.useSearch();
  return revision === undefined ? <IncidentPage id={id} /> : <IncidentAsOf id={id} revision={revision} />;
}

/** A page of the incident that the address names. */
export function Address({ to, children }: AddressProps) {
  const { id: address } = useParams({ from: to });
  const page = { to, address, children };
  return /^\d+$/.test(address) ? (
    <ById key={address} id={Number(address)} {...page} />
  ) : (
    <ByReference reference={address} {...page} />
  );
}

type PageProps = AddressProps & { address: string };

function ByReference({ reference, ...page }: PageProps & { reference: string }) {
  const path = `/incident-references/${encodeURIComponent(reference)}`;
  const query = useQuery<number, TocsinError>({
    queryKey: [path],
    queryFn: async () => {
      const { incident } = await read<{ incident: Incident }>(path);
      queryClient.setQueryData([`/incidents/${incident.id}`], { incident });
      return incident.id;
    },
    initialData: () => idInLists(reference),
    // A reference never leads to another incident.
    staleTime: Infinity,
  });
  if (query.error?.status === 404 || query.error?.status === 400) return <Unknown reference={reference} />;
  return (
    <Loaded query={query} heading="h1">
      {(id) => <ById key={id} id={id} {...page} />}
    </Loaded>
  );
}

/** The ID of an incident that a list has shown. */
function idInLists(reference: string): number | undefined {
  type Lists = InfiniteData<{ incidents?: Incident[] }>;
  for (const [, list] of queryClient.getQueriesData<Lists>({ queryKey: [] })) {
    for (const { incidents = [] } of list?.pages ?? []) {
      const incident = incidents.find(({ human_id: name }) => name === reference);
      if (incident) return incident.id;
    }
  }
  return undefined;
}

function ById({ id, to, address, children }: PageProps & { id: number }) {
  const navigate = useNavigate();
  const [isGone, setGone] = useState(false);
  const { data, error } = useGet<{ incident: Incident }>(`/incidents/${id}`, { enabled: !isGone });
  const hasEnded = error?.status === 404 && data !== undefined;
  useEffect(() => {
    if (!hasEnded) return;
    setGone(true);
    forgetDraftsOf(String(id));
    void forgetIncidents();
  }, [hasEnded, id]);
  const name = data?.incident.human_id;
  useEffect(() => {
    if (name === undefined || name === address) return;
    navigate({ to, params: { id: name }, search: true, replace: true }).catch(sayError);
  }, [name, address, to, navigate]);
  if (isGone || hasEnded) return <Gone />;
  if (error?.status === 404) return <Unknown reference={address} />;
  return children(id);
}

/** Stands where an incident was that its reader may no longer see. */
function Gone() {
  useEffect(() => void (document.title = 'Tocsin'), []);
  return (
    <div className={ui.page} role="alert">
      <Empty
        title="You no longer see this incident"
        heading="h1"
        icon="lock"
        action={
          <Link to="/" className={buttonClass()}>
            All incidents
          </Link>
        }
      >
        It is restricted now, and you are not among those who see it. Ask whoever works on it to add you.
      </Empty>
    </div>
  );
}

const Unknown = ({ reference }: { reference: string }) => (
  <div className={ui.page}>
    <Empty
      title="There is nothing here"
      heading="h1"
      icon="search"
      action={
        <Link to="/" search={{ q: reference, view: 'all' }} className={buttonClass()}>
          Search for {reference}
        </Link>
      }
    >
      No incident of this workspace has this address.
    </Empty>
  </div>
);
