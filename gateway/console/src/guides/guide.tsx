import { getRouteApi, Link } from '@tanstack/react-router';
import { createElement, Fragment, type ReactNode, useEffect } from 'react';
import { useMe } from '../api/hooks.ts';
import { type Preset, useNewKey } from '../settings/new-key.tsx';
import { withOwnAddress } from '../settings/own-address.ts';
import { Button } from '../ui/button.tsx';
import { Copy } from '../ui/dialogs.tsx';
import { Page } from '../ui/layout.tsx';
import { SafeLink } from '../ui/markdown.tsx';
import { Loaded } from '../ui/states.tsx';
import css from './guides.module.css';
import { type GuideNode, useGuide } from './use-guides.ts';

/** What the key of a guide is for. */
const KEYS = new Map<string, Preset>([
  ['alerts', 'monitor'],
  ['following-events', 'reader'],
  ['sdk', 'ci'],
  ['cli', 'ci'],
  ['agents', 'reader'],
]);

const route = getRouteApi('/guides/$name');

export function GuidePage() {
  const { name } = route.useParams();
  const guide = useGuide(name);
  return (
    <Loaded query={guide} heading="h1">
      {({ guide: { title, nodes } }) => (
        <Page title={title} actions={<MakeKey key={name} preset={KEYS.get(name)} />}>
          <div className={css.guide}>
            <Contents nodes={nodes} />
            <article className={css.text}>{nodes.map(show)}</article>
          </div>
        </Page>
      )}
    </Loaded>
  );
}

/** The button that makes the key of a guide, for those who may. */
function MakeKey({ preset }: { preset: Preset | undefined }) {
  const scopes = useMe().data?.api_key.scopes ?? [];
  const { make, dialogs } = useNewKey();
  return (
    <>
      <Link to="/guides">All guides</Link>
      {preset !== undefined && scopes.includes('api_keys:manage') && (
        <Button kind="primary" icon="key" onClick={() => make(preset)}>
          Make its key
        </Button>
      )}
      {dialogs}
    </>
  );
}

function Contents({ nodes }: { nodes: readonly GuideNode[] }) {
  const parts = nodes.flatMap((node) => (typeof node !== 'string' && node.tag === 'h2' ? [node] : []));
  // The browser looks for the part of an address before the guide is there.
  useEffect(
    () => document.getElementById(decodeURIComponent(window.location.hash.slice(1)))?.scrollIntoView(),
    [nodes],
  );
  if (parts.length === 0) return null;
  return (
    <nav className={css.contents} aria-label="Contents">
      <ul>
        {parts.map(({ id, children }) => (
          <li key={id}>
            <a href={`#${id}`}>{children.map(show)}</a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function show(node: GuideNode, index: number): ReactNode {
  if (typeof node === 'string') return <Fragment key={index}>{node}</Fragment>;
  const { tag, id, href, start, children } = node;
  const inner = children.map(show);
  if (href !== undefined) return <GuideLink key={index} href={href} text={inner} />;
  if (tag === 'pre') return <Example key={index} text={children.map(String).join('')} />;
  const element = createElement(tag, { key: index, id, start }, ...inner);
  if (tag !== 'table') return element;
  return (
    <div key={index} className={css.wide} role="region" aria-label="Table" tabIndex={0}>
      {element}
    </div>
  );
}

/** A link to another site, a part of this page, the reference, or a guide. */
function GuideLink({ href, text }: { href: string; text: ReactNode }) {
  if (/^https?:/.test(href)) return <SafeLink href={href}>{text}</SafeLink>;
  if (href.startsWith('#')) return <a href={href}>{text}</a>;
  if (href.startsWith('/')) {
    return (
      <a href={href} target="_blank" rel="noreferrer">
        {text}
      </a>
    );
  }
  const [name = '', hash] = href.split('#');
  return (
    <Link to="/guides/$name" params={{ name }} hash={hash}>
      {text}
    </Link>
  );
}

function Example({ text }: { text: string }) {
  const shown = withOwnAddress(text, window.location);
  return (
    <div className={css.example}>
      <pre tabIndex={0}>{shown}</pre>
      <Copy value={shown} />
    </div>
  );
}
