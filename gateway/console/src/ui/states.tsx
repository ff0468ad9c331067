import { type ReactNode, useEffect, useEffectEvent, useRef } from 'react';
import { Button } from './button.tsx';
import type { Failure } from './failure.ts';
import { Icon, type IconName } from './icon.tsx';
import { Card, Page } from './layout.tsx';
import css from './ui.module.css';

/** @param props `heading` is `h1` where the page has no other one */
export const Empty = ({
  title,
  children,
  action,
  icon = 'calm',
  heading: Heading = 'h2',
}: {
  title: string;
  children?: ReactNode;
  action?: ReactNode;
  icon?: IconName;
  heading?: 'h1' | 'h2';
}) => (
  <div className={css.state}>
    <span className={css.muted}>
      <Icon name={icon} size={28} />
    </span>
    <Heading>{title}</Heading>
    {children && <p>{children}</p>}
    {action}
  </div>
);

export const Loading = ({ rows = 5 }: { rows?: number }) => (
  <div className={css.skeleton} role="status" aria-label="Loading">
    {Array.from({ length: rows }, (_, index) => (
      <span key={index} />
    ))}
  </div>
);

/** A page that only some people see. */
export const NoPermission = ({ title, what }: { title: string; what: string }) => (
  <Page title={title}>
    <Card>
      <Empty title="You cannot see this page" icon="lock">
        {`Only owners and admins of the workspace ${what}. Ask one of them.`}
      </Empty>
    </Card>
  </Page>
);

/** What a query shows: its data, or why there are none. Data that were read before stay while others are read. */
export function Loaded<Data>({
  query,
  rows,
  heading,
  children,
}: {
  query: { data: Data | undefined; error: Failure | null; refetch: () => unknown };
  rows?: number;
  heading?: 'h1' | 'h2';
  children: (data: Data) => ReactNode;
}) {
  const { data, error, refetch } = query;
  if (data !== undefined) return children(data);
  if (error === null) return <Loading rows={rows} />;
  const isOffline = error.status === undefined;
  const title = isOffline
    ? 'You are offline'
    : error.status === 404
      ? 'There is nothing here'
      : 'This could not be read';
  return (
    <Empty
      title={title}
      heading={heading}
      icon={isOffline ? 'offline' : 'alert'}
      action={<Button onClick={() => void refetch()}>Try again</Button>}
    >
      {error.message}
      {error.requestId && ` Request ${error.requestId}.`}
    </Empty>
  );
}

/** The part of the window below it, within which the end of a list is near. */
const NEAR = '800px';

/**
 * The pages of a list in one, with the button for the next one.
 * @param props `isAutomatic` reads it when the end of the list comes near; after a failure, the button does
 */
export function More({
  list: { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage },
  isAutomatic = false,
}: {
  list: {
    hasNextPage: boolean;
    isFetchingNextPage: boolean;
    isFetchNextPageError: boolean;
    fetchNextPage: () => unknown;
  };
  isAutomatic?: boolean;
}) {
  const ref = useRef<HTMLDivElement>(null);
  const isWaiting = isAutomatic && hasNextPage && !isFetchingNextPage && !isFetchNextPageError;
  const onNear = useEffectEvent(() => fetchNextPage());
  useEffect(() => {
    if (!isWaiting || ref.current === null) return;
    // A new observer for each page: it reports at once whether the end is still near.
    const observer = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && onNear(), {
      rootMargin: `0px 0px ${NEAR}`,
    });
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, [isWaiting]);
  return (
    hasNextPage && (
      <div ref={ref} className={css.more}>
        <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {isFetchingNextPage ? 'Loading' : 'Show more'}
        </Button>
      </div>
    )
  );
}
