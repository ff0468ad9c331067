import { Empty } from '../ui/ui.tsx';

export const SignedOut = ({ reason }: { reason?: string }) => (
  <main>
    <Empty title={reason === undefined ? 'You are signed out' : 'This link does not work'} icon="lock" heading="h1">
      {reason !== undefined && `${reason}. `}
      Ask an operator for a link: <code>admin login-link --workspace … --email …</code>. It works once, within ten
      minutes.
    </Empty>
  </main>
);
