import { TocsinError } from '@tocsin/sdk';
import { Button } from '../ui/button.tsx';
import { Empty } from '../ui/states.tsx';
import ui from '../ui/ui.module.css';

interface Person {
  name: string;
  email: string;
}

interface Users {
  present: Person;
  next: Person;
}

/** The users of a refusal because another one is signed in. */
export function usersOf(error: unknown): Users | undefined {
  if (!(error instanceof TocsinError) || error.status !== 409) return undefined;
  const { signed_in: present, link: next } = error.details as { signed_in?: Person; link?: Person };
  return present && next && { present, next };
}

/** Asks whether a sign-in may replace the session of another user. */
export const OtherUser = ({ present, next, onReplace, onStay }: Users & { onReplace(): void; onStay(): void }) => (
  <main>
    <Empty
      title={`${present.name} is signed in`}
      icon="lock"
      heading="h1"
      action={
        <div className={ui.row}>
          <Button kind="primary" onClick={onReplace}>
            Sign in as {next.name}
          </Button>
          <Button onClick={onStay}>Stay {present.name}</Button>
        </div>
      }
    >
      This signs {next.name} ({next.email}) in, and {present.name} ({present.email}) out of this browser.
    </Empty>
  </main>
);
