import { type ReactNode, useState } from 'react';
import { useList } from '../api/hooks.ts';
import { Button, classes } from '../ui/button.tsx';
import { Card } from '../ui/layout.tsx';
import { Loaded, More } from '../ui/states.tsx';
import ui from '../ui/ui.module.css';

/** A list on the page of an incident, and the dialogue that adds to it. */
export function ListCard<Row extends { id: number }>({
  title,
  path,
  property,
  none,
  add,
  dialog,
  children,
}: {
  title: string;
  path: string;
  property: string;
  none: string;
  /** The button of the dialogue. */
  add: string | false;
  dialog: (onClose: () => void) => ReactNode;
  /** The item of a row. */
  children: (row: Row) => ReactNode;
}) {
  const list = useList<Row>(path, property);
  const [isAdding, setAdding] = useState(false);
  const button = add && (
    <Button small icon="plus" onClick={() => setAdding(true)}>
      {add}
    </Button>
  );
  return (
    <Card title={title} actions={button}>
      <Loaded query={list} rows={1}>
        {({ rows }) =>
          rows.length > 0 ? <ul>{rows.map(children)}</ul> : <p className={classes(ui.item, ui.muted)}>{none}</p>
        }
      </Loaded>
      <More list={list} />
      {isAdding && dialog(() => setAdding(false))}
    </Card>
  );
}
