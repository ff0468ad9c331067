/**
 * `shell` is what stands around every page: the menu (`places.ts` has the pages), who is signed in, whether changes
 * arrive as they happen, the palette that finds everything by its name, and the keys. It asks who is signed in before
 * it shows a page, and shows the ways in if nobody is. It follows the events while somebody is signed in, says when the
 * browser is offline, and opens the dialogue that declares an incident from every page. The page of somebody whose
 * session has ended is kept, and comes back with the next sign-in in this tab.
 */
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { showUser } from '../api/browser-user.ts';
import { sayError } from '../api/failures.ts';
import { forgetPage, rememberPage, useEndSession } from '../sign-in/session.ts';
import { useAccess, useMe } from '../api/hooks.ts';
import { startLive, useLive } from '../api/live.ts';
import { Icon } from '../ui/icon.tsx';
import { DraftOwner, useOnlyDraftsOf } from '../ui/drafts.ts';
import { createStore } from '../ui/store.ts';
import { Toasts } from '../ui/toast.tsx';
import { Button, classes } from '../ui/button.tsx';
import { Loaded } from '../ui/states.tsx';
import ui from '../ui/ui.module.css';
import { useKeys } from '../ui/use-keys.ts';
import { DeclareDialog } from '../incident/declare.tsx';
import { IdleNotice } from '../sign-in/idle-notice.tsx';
import { useKeptFocus } from './kept-focus.ts';
import { KeysHelp } from './keys-help.tsx';
import { Palette } from './palette.tsx';
import { ALL_PLACES, type Place, PLACES } from './places.ts';
import { isPutAway } from '../settings/put-away.ts';
import css from './shell.module.css';
import { SignedOut } from '../sign-in/signed-out.tsx';

const online = createStore(navigator.onLine);
for (const type of ['online', 'offline']) window.addEventListener(type, () => online.set(navigator.onLine));

export const Shell = () => (
  <DraftOwner.Provider value={useMe().data?.user.id ?? 0}>
    <Frame />
  </DraftOwner.Provider>
);

function Frame() {
  const me = useMe();
  const [reason, setReason] = useState<string>();
  const { canRespond } = useAccess();
  const [dialog, setDialog] = useState<'declare' | 'palette' | 'keys'>();
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(false);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const isOnline = online.useValue();
  const isSignedIn = me.data !== undefined && me.error?.status !== 401;

  const userId = me.data?.user.id;
  useEffect(() => setOpen(false), [path]);
  useFocusedPage();
  useKeptFocus();
  useEffect(() => (userId === undefined ? undefined : showUser(userId)), [userId]);
  useOnlyDraftsOf(userId);
  const isSignedOut = me.error?.status === 401;
  useEffect(() => (isSignedOut ? rememberPage() : isSignedIn ? forgetPage() : undefined), [isSignedOut, isSignedIn]);
  useEffect(() => (isSignedIn ? startLive() : undefined), [isSignedIn]);
  const declare = () => setDialog('declare');
  const close = () => setDialog(undefined);
  /** The next Tab is then the first thing of the page. */
  const goTo = async (to: Place) => {
    focusPage();
    await navigate({ to });
  };
  useKeys({
    c: canRespond && declare,
    '?': () => setDialog('keys'),
    'Control+k': () => setDialog('palette'),
    'Meta+k': () => setDialog('palette'),
    ...Object.fromEntries(ALL_PLACES.map(([to, , , key]) => [`g ${key}`, () => void goTo(to)])),
  });

  // An address without a workspace has nobody either.
  if (isSignedOut || me.error?.status === 404) return <SignedOut reason={reason} />;
  return (
    <Loaded query={me} heading="h1">
      {({ workspace }) => (
        <div className={css.shell}>
          <a className={css.skip} href="#main">
            Skip to the content
          </a>
          <Side name={workspace.name} isOpen={isOpen} setOpen={setOpen} declare={canRespond ? declare : undefined}>
            <Foot onFind={() => setDialog('palette')} />
          </Side>
          <main id="main" className={css.main} tabIndex={-1}>
            {!isOnline && (
              <p role="status" className={classes(ui.notice, css.offline)}>
                You are offline. What you see may be old.
              </p>
            )}
            <IdleNotice
              className={css.offline}
              onEnd={() => setReason('You were signed out because nobody used this browser for 12 hours')}
            />
            <Outlet />
          </main>
          {dialog === 'declare' && <DeclareDialog onClose={close} />}
          {dialog === 'keys' && <KeysHelp onClose={close} />}
          {dialog === 'palette' && (
            <Palette
              verbs={[
                ...(canRespond ? [['Declare an incident', declare] as const] : []),
                ['Incidents of the last 30 days', () => void navigate({ to: '/', search: { view: 'all', days: 30 } })],
                ['Show the keys', () => setDialog('keys')],
                ['Light or dark', toggleTheme],
              ]}
              onClose={close}
            />
          )}
          <Toasts />
        </div>
      )}
    </Loaded>
  );
}

/** @param props.declare absent for those who cannot respond */
function Side({
  name,
  isOpen,
  setOpen,
  declare,
  children,
}: {
  name: string;
  isOpen: boolean;
  setOpen: (isOpen: boolean) => void;
  declare: (() => void) | undefined;
  children: ReactNode;
}) {
  return (
    <header className={css.side}>
      <div className={css.brand}>
        <Link to="/" className={css.name}>
          <span className={css.mark} aria-hidden="true" />
          {name}
        </Link>
        {declare && <Button icon="plus" aria-label="Declare" onClick={declare} />}
        <Button
          kind="quiet"
          icon={isOpen ? 'close' : 'menu'}
          aria-label="Menu"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        />
      </div>
      <div className={classes(css.menu, isOpen && css.open)}>
        {declare ? (
          <Button kind="primary" icon="plus" onClick={declare}>
            Declare incident
          </Button>
        ) : (
          <p className={css.seat}>You have no responder seat, so you can read and not change incidents.</p>
        )}
        <Pages />
        {children}
      </div>
    </header>
  );
}

function Pages() {
  const hasPutAway = isPutAway.useValue();
  return (
    <nav aria-label="Main">
      {PLACES.map(([group, places]) => (
        <div key={group ?? ''} className={css.group}>
          {group && <h2>{group}</h2>}
          <ul>
            {places.map(([to, label, icon]) => (
              <li key={to} hidden={to === '/start' && hasPutAway}>
                <Link
                  to={to}
                  className={css.link}
                  activeOptions={{ exact: to === '/', includeSearch: false }}
                  activeProps={{ className: css.active ?? '', 'aria-current': 'page' }}
                >
                  <Icon name={icon} />
                  {label}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}

/** Focuses each page after the first, if what had the focus has gone with the page before. */
function useFocusedPage(): void {
  const isFirst = useRef(true);
  const shownPath = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname });
  useEffect(() => {
    if (shownPath === undefined) return;
    if (!isFirst.current && document.activeElement === document.body) focusPage();
    isFirst.current = false;
  }, [shownPath]);
}

function focusPage(): void {
  document.getElementById('main')?.focus({ preventScroll: true });
}

const LIVE = { connecting: 'Connecting', live: 'Live', lost: 'Not live: trying again', offline: 'Offline' } as const;
const THEMES = { light: 'dark', dark: 'light' } as const;

function toggleTheme(): void {
  const { dataset } = document.documentElement;
  const isDark = window.matchMedia('(prefers-color-scheme: dark)').matches;
  const current = (dataset['theme'] as keyof typeof THEMES | undefined) ?? (isDark ? 'dark' : 'light');
  dataset['theme'] = THEMES[current];
  localStorage.setItem('theme', THEMES[current]);
}

function Foot({ onFind }: { onFind: () => void }) {
  const { data } = useMe();
  const { state: followed } = useLive();
  const state = online.useValue() ? followed : 'offline';
  const end = useEndSession();
  return (
    <div className={css.foot}>
      <span className={css.who}>
        <span className={ui.strong}>{data?.user.name}</span>
        <span className={classes(css.pulse, state !== 'offline' && css[state])}>{LIVE[state]}</span>
      </span>
      <Button kind="quiet" small icon="search" aria-label="Find (Ctrl+K)" onClick={onFind} />
      <Button kind="quiet" small icon="theme" aria-label="Light or dark" onClick={toggleTheme} />
      <Button
        kind="quiet"
        small
        icon="out"
        aria-label="Sign out"
        busy={end.isPending}
        onClick={() => end.mutate({ id: data?.api_key.id ?? 0, current: true }, { onError: sayError })}
      />
    </div>
  );
}

const theme = localStorage.getItem('theme');
if (theme !== null) document.documentElement.dataset['theme'] = theme;
