import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { createRoot, type Root } from 'react-dom/client';
import './ui/tokens.css';
import { failureOf } from './api/failures.ts';
import { keepRequest } from './sign-in/asked.ts';
import { returnToPage, signIn } from './sign-in/session.ts';
import { OtherUser, usersOf } from './sign-in/other-user.tsx';
import { queryClient } from './api/hooks.ts';
import { refusalText, SignedOut } from './sign-in/signed-out.tsx';
import { router } from './router.tsx';

const LINK = '/app/sign-in';
/** The provider has confirmed who signs in, and another user is signed in. */
const BY_PROVIDER = '?by=provider';

async function start(): Promise<void> {
  keepRequest();
  const root = createRoot(document.getElementById('root') as HTMLElement);
  const { pathname, hash, search } = window.location;
  const refused = new URLSearchParams(search).get('refused');
  if (pathname === LINK && refused !== null) {
    root.render(<SignedOut reason={refusalText(refused)} />);
    return;
  }
  if (pathname === LINK) {
    // Neither a link nor a token by mistake must stay in the history.
    window.history.replaceState(null, '', '/app/');
    // People type the token of a key: an address with one would sign them in as whoever sends it.
    const link = hash.startsWith('#tcl_') ? hash.slice(1) : undefined;
    if ((link !== undefined || search === BY_PROVIDER) && !(await openLink(root, link))) return;
  }
  showConsole(root);
}

/**
 * Signs in by a link; without one, by that of a cookie.
 * @returns whether the console can be shown; otherwise it has said why not
 */
async function openLink(root: Root, token: string | undefined, replaces = false): Promise<boolean> {
  try {
    await signIn(token, { replaces });
    return true;
  } catch (error) {
    const users = usersOf(error);
    const reason = failureOf(error).message;
    const replace = async () => (await openLink(root, token, true)) && showConsole(root);
    root.render(
      users === undefined ? (
        <SignedOut reason={reason} />
      ) : (
        <OtherUser {...users} onReplace={() => void replace()} onStay={() => showConsole(root)} />
      ),
    );
    return false;
  }
}

function showConsole(root: Root): void {
  returnToPage();
  root.render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>,
  );
}

void start();
