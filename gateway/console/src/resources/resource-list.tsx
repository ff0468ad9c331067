/**
 * `resources` is what the resources of the API have in common on a page: a list with a search, whose rows are edited,
 * archived and restored (this file), a dialogue that creates or changes one, and one that asks before a delete. A
 * change is saved on the revision that its author was shown. If somebody else has changed other properties meanwhile,
 * it is saved on top; if the same ones, `conflict.tsx` shows both versions and asks. The rooms above say what a
 * resource is called, where it is and which fields it has.
 */
import type { Query } from '@tocsin/sdk';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { Write } from '../api/client.ts';
import { sayError } from '../api/failures.ts';
import { listOf, useList, useWrite } from '../api/hooks.ts';
import { type Columns, Named, Table } from '../ui/table.tsx';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/dialogs.tsx';
import { Check, Input } from '../ui/fields.tsx';
import { Card, Page } from '../ui/layout.tsx';
import { Empty, Loaded, More } from '../ui/states.tsx';
import { Badge } from '../ui/texts.tsx';

/** A member of a team is known by the user. */
type Resource = { id: number; archived_at?: string } | { user_id: number; archived_at?: string };

const idOf = (row: Resource): number => ('id' in row ? row.id : row.user_id);

/** Whether a list also shows what is archived: in the address, too, so that it does after a reload. */
function useArchived(list: string): [boolean, (isShown: boolean) => void] {
  const name = `archived_${list}`;
  const search: Readonly<Record<string, unknown>> = useSearch({ strict: false });
  const navigate = useNavigate();
  const [isShown, setIsShown] = useState(search[name] === true);
  const change = (next: boolean) => {
    setIsShown(next);
    // A page may have two lists, both of which are changed before it is drawn again.
    const changed = (before: object) => ({ ...before, [name]: next || undefined });
    void navigate({ to: '.', search: changed, replace: true, resetScroll: false });
  };
  return [isShown, change];
}

interface ListProps<Row> {
  title: string;
  lead?: string;
  guide?: string;
  path: string;
  /** The property of the API's pages that has the rows. */
  property: string;
  filter?: Query;
  /** What chooses the filter. */
  controls?: ReactNode;
  columns: Columns<Row>;
  empty?: ReactNode;
  search?: { label: string; none: string };
  /** The button that opens the editor of a new row. */
  create?: string;
  canChange?: boolean;
  editor?: (row: Row | undefined, onClose: () => void) => ReactNode;
  /** The second button of a row; by default rows are archived and restored. */
  act?: (row: Row) => readonly [label: string, request: Write];
  /** Buttons of a row besides. */
  more?: (row: Row) => ReactNode;
  /** All buttons of a row, instead. */
  actions?: (row: Row) => ReactNode;
}

/** The button that archives a row, or restores it. */
const archiveOrRestore = (path: string, row: Resource): readonly [label: string, request: Write] =>
  row.archived_at === undefined
    ? ['Archive', { method: 'DELETE', path: `${path}/${idOf(row)}` }]
    : ['Restore', { path: `${path}/${idOf(row)}/restore` }];

/** The second button of a row, and the question before an archive. */
function useRowButton<Row extends Resource>(path: string, act: ListProps<Row>['act']) {
  const write = useWrite(listOf(path));
  const [archived, setArchived] = useState<Row>();
  const button = (row: Row) => {
    const [label, request] = act?.(row) ?? archiveOrRestore(path, row);
    return (
      <Button
        kind="quiet"
        small
        onClick={() => {
          write.reset();
          if (label === 'Archive') setArchived(row);
          else write.mutate(request, { onError: sayError });
        }}
      >
        {label}
      </Button>
    );
  };
  const question = archived && (
    <Confirm
      title={`Archive ${'name' in archived ? String(archived.name) : 'it'}?`}
      label="Archive"
      busy={write.isPending}
      error={write.error}
      onClose={() => setArchived(undefined)}
      onSubmit={() => write.mutate(archiveOrRestore(path, archived)[1], { onSuccess: () => setArchived(undefined) })}
    >
      It leaves lists and choices, and incidents keep it. It can be restored.
    </Confirm>
  );
  return { button, question };
}

/** A list of the API, and what may be done with its rows; a page of its own if it has a `lead`, else a card. */
export function ResourceList<Row extends Resource>({
  title,
  lead,
  guide,
  path,
  property,
  filter,
  controls,
  columns,
  empty,
  search,
  create,
  canChange = true,
  editor,
  act,
  actions,
  more,
}: ListProps<Row>) {
  const [text, setText] = useState('');
  const [hasArchived, setHasArchived] = useArchived(property);
  const [edited, setEdited] = useState<Row | 'new'>();
  const list = useList<Row>(path, property, { ...filter, q: text, include_archived: hasArchived || undefined });
  const { button, question } = useRowButton(path, act);
  const buttons = (row: Row) => (
    <>
      {more?.(row)}
      {editor && row.archived_at === undefined && (
        <Button kind="quiet" small onClick={() => setEdited(row)}>
          Edit
        </Button>
      )}
      {button(row)}
    </>
  );
  const head = (
    <>
      {!act && !actions && (filter === undefined || controls !== undefined) && (
        <Check label="Show archived" value={hasArchived} onValue={setHasArchived} />
      )}
      {controls}
      {search && <Input bare label={search.label} type="search" placeholder="Search" value={text} onValue={setText} />}
      {create && canChange && (
        <Button
          kind={lead === undefined ? 'normal' : 'primary'}
          small={lead === undefined}
          icon="plus"
          onClick={() => setEdited('new')}
        >
          {create}
        </Button>
      )}
    </>
  );
  const body = (
    <>
      <Loaded query={list}>
        {({ rows }) => {
          if (rows.length === 0) return search && text !== '' ? <Empty title={search.none} icon="search" /> : empty;
          return <Table columns={columns} rows={rows} keyOf={idOf} actions={canChange && (actions ?? buttons)} />;
        }}
      </Loaded>
      <More list={list} />
      {question}
    </>
  );
  const dialog = edited && editor?.(edited === 'new' ? undefined : edited, () => setEdited(undefined));
  return lead === undefined ? (
    <Card title={title} actions={head}>
      {body}
      {dialog}
    </Card>
  ) : (
    <Page title={title} lead={lead} guide={guide} actions={head}>
      <Card>{body}</Card>
      {dialog}
    </Page>
  );
}

/** The column of the names of what can be archived. */
export const NAME = [
  'Name',
  ({ name, slug, description, archived_at: archived }: Described) => (
    <Named
      name={
        <>
          {name} {archived && <Badge>Archived</Badge>}
        </>
      }
      about={description ?? slug}
    />
  ),
] as const;

interface Described {
  name: string;
  slug: string;
  description?: string;
  archived_at?: string;
}
