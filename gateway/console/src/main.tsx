import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import './ui/tokens.css';
import { ApiError, signIn } from './api/client.ts';
import { queryClient } from './api/hooks.ts';
import { refusalText, SignedOut } from './pages/signed-out.tsx';
import { router } from './router.tsx';

const LINK = '/app/sign-in';

async function start(): Promise<void> {
  const root = createRoot(document.getElementById('root') as HTMLElement);
  const { pathname, hash, search } = window.location;
  const refused = new URLSearchParams(search).get('refused');
  if (pathname === LINK && refused !== null) {
    root.render(<SignedOut reason={refusalText(refused)} />);
    return;
  }
  if (pathname === LINK && hash.length > 1) {
    // A link works once: it must not stay in the history.
    window.history.replaceState(null, '', '/app/');
    try {
      await signIn(hash.slice(1));
    } catch (error) {
      root.render(<SignedOut reason={error instanceof ApiError ? error.message : 'Tocsin cannot be reached.'} />);
      return;
    }
  }
  root.render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>,
  );
}

void start();
