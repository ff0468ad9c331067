import { useEffect, useRef } from 'react';
import { More } from './states.tsx';

type Reading = Parameters<typeof More>[0]['list'] & { isFetching: boolean; isFetchNextPageError: boolean };

/** Reads a list on when its end comes near. The button stays for those who do not scroll, and for what failed. */
export function ReadOn({ list }: { list: Reading }) {
  const end = useRef<HTMLDivElement>(null);
  const { hasNextPage, isFetching, isFetchNextPageError: hasFailed, fetchNextPage } = list;
  useEffect(() => {
    if (end.current === null || !hasNextPage || isFetching || hasFailed) return;
    const onSight = ([entry]: IntersectionObserverEntry[]) => entry?.isIntersecting === true && void fetchNextPage();
    const observer = new IntersectionObserver(onSight, { rootMargin: '800px' });
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [hasNextPage, isFetching, hasFailed, fetchNextPage]);
  return (
    <div ref={end}>
      <More list={list} />
    </div>
  );
}
