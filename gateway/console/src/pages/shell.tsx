import { Link, Outlet, useRouterState } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useAccess, useMe, useWrite } from '../api/hooks.ts';
import { startLive, useLive } from '../api/live.ts';
import { Icon, type IconName } from '../ui/icon.tsx';
import { createStore } from '../ui/store.ts';
import { sayError, Toasts } from '../ui/toast.tsx';
import { Button, classes, css as ui, Loaded } from '../ui/ui.tsx';
import { useKeys } from '../ui/use-keys.ts';
import { DeclareDialog } from './declare.tsx';
import css from './shell.module.css';
import { SignedOut } from './signed-out.tsx';

const PLACES = [
  [
    undefined,
    [
      ['/', 'Incidents', 'incidents'],
      ['/statistics', 'Statistics', 'chart'],
      ['/catalog', 'Services and teams', 'services'],
    ],
  ],
  [
    'Settings',
    [
      ['/fields', 'Custom fields', 'fields'],
      ['/webhooks', 'Webhooks', 'webhooks'],
      ['/users', 'People', 'users'],
      ['/keys', 'Keys and sessions', 'key'],
      ['/configuration', 'Configuration', 'settings'],
      ['/start', 'First steps', 'start'],
    ],
  ],
] as const satisfies readonly (readonly [string | undefined, readonly (readonly [string, string, IconName])[]])[];

const online = createStore(navigator.onLine);
for (const type of ['online', 'offline']) window.addEventListener(type, () => online.set(navigator.onLine));

export function Shell() {
  const me = useMe();
  const { canRespond } = useAccess();
  const [isDeclaring, setDeclaring] = useState(false);
  const [isOpen, setOpen] = useState(false);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const isOnline = online.useValue();
  const isSignedIn = me.data !== undefined && me.error?.status !== 401;

  useEffect(() => setOpen(false), [path]);
  useEffect(() => (isSignedIn ? startLive() : undefined), [isSignedIn]);
  useKeys({ c: canRespond && (() => setDeclaring(true)) });

  if (me.error?.status === 401) return <SignedOut />;
  return (
    <Loaded query={me} heading="h1">
      {({ workspace }) => (
        <div className={css.shell}>
          <a className={css.skip} href="#main">
            Skip to the content
          </a>
          <header className={css.side}>
            <div className={css.brand}>
              <Link to="/" className={css.name}>
                <span className={css.mark} aria-hidden="true" />
                {workspace.name}
              </Link>
              <Button
                kind="quiet"
                icon={isOpen ? 'close' : 'menu'}
                aria-label="Menu"
                aria-expanded={isOpen}
                onClick={() => setOpen(!isOpen)}
              />
            </div>
            <div className={classes(css.menu, isOpen && css.open)}>
              {canRespond ? (
                <Button kind="primary" icon="plus" onClick={() => setDeclaring(true)}>
                  Declare incident
                </Button>
              ) : (
                <p className={css.seat}>You have no responder seat, so you can read and not change incidents.</p>
              )}
              <nav aria-label="Main">
                {PLACES.map(([group, places]) => (
                  <div key={group ?? ''} className={css.group}>
                    {group && <h2>{group}</h2>}
                    <ul>
                      {places.map(([to, label, icon]) => (
                        <li key={to}>
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
              <Foot />
            </div>
          </header>
          <main id="main" className={css.main} tabIndex={-1}>
            {!isOnline && (
              <p role="status" className={classes(ui.notice, css.offline)}>
                You are offline. What you see may be old.
              </p>
            )}
            <Outlet />
          </main>
          {isDeclaring && <DeclareDialog onClose={() => setDeclaring(false)} />}
          <Toasts />
        </div>
      )}
    </Loaded>
  );
}

const LIVE = { connecting: 'Connecting', live: 'Live', lost: 'Not live: trying again' } as const;
const THEMES = { light: 'dark', dark: 'light' } as const;

function Foot() {
  const { data } = useMe();
  const { state } = useLive();
  const signOut = useWrite('/');
  const toggleTheme = () => {
    const { dataset } = document.documentElement;
    const isDark = window.matchMedia('(prefers-color-scheme: dark)').matches;
    const current = (dataset['theme'] as keyof typeof THEMES | undefined) ?? (isDark ? 'dark' : 'light');
    dataset['theme'] = THEMES[current];
    localStorage.setItem('theme', THEMES[current]);
  };
  return (
    <div className={css.foot}>
      <span className={css.who}>
        <span className={ui.strong}>{data?.user.name}</span>
        <span className={classes(css.pulse, css[state])}>{LIVE[state]}</span>
      </span>
      <Button kind="quiet" small icon="theme" aria-label="Light or dark" onClick={toggleTheme} />
      <Button
        kind="quiet"
        small
        icon="out"
        aria-label="Sign out"
        busy={signOut.isPending}
        onClick={() =>
          signOut.mutate(
            { path: `/settings/sessions/${data?.api_key.id ?? 0}/revoke` },
            { onError: (error) => error.status !== 401 && sayError(error) },
          )
        }
      />
    </div>
  );
}

const theme = localStorage.getItem('theme');
if (theme !== null) document.documentElement.dataset['theme'] = theme;
