import type { Command } from './command.ts';

/** A command in the help; what it needs is loaded when it is called. */
interface ListedCommand {
  /** The words that select the command. */
  name: string;
  summary: string;
  load(): Promise<Command>;
}

const workspaces = async () => import('./workspace-commands.ts');
const users = async () => import('./user-commands.ts');
const keys = async () => import('./key-commands.ts');
const slack = async () => import('./slack-commands.ts');
const oidc = async () => import('./oidc-commands.ts');
const webhooks = async () => import('./webhook-commands.ts');
const deadLetters = async () => import('./dead-letter-commands.ts');

/** All commands, in the order of the help. */
export const COMMANDS: readonly ListedCommand[] = [
  { name: 'workspace list', summary: 'List all workspaces', load: async () => (await workspaces()).list },
  { name: 'workspace show', summary: 'Show all settings of a workspace', load: async () => (await workspaces()).show },
  { name: 'workspace create', summary: 'Create a workspace', load: async () => (await workspaces()).create },
  { name: 'workspace set', summary: "Change a workspace's settings", load: async () => (await workspaces()).set },
  {
    name: 'workspace suspend',
    summary: 'Let nobody into a workspace, and keep its data',
    load: async () => (await workspaces()).suspend,
  },
  { name: 'workspace resume', summary: 'End the suspension', load: async () => (await workspaces()).resume },
  {
    name: 'workspace delete',
    summary: 'Delete all data of a workspace that has been suspended for seven days; may be repeated',
    load: async () => (await workspaces()).remove,
  },
  {
    name: 'workspace configure',
    summary: 'Replace statuses, severities, tiers, exchange rates or timeline groups',
    load: async () => (await import('./configure-workspace.ts')).configure,
  },
  { name: 'user list', summary: 'List the users of all workspaces, or of one', load: async () => (await users()).list },
  { name: 'user show', summary: 'Show a user', load: async () => (await users()).show },
  { name: 'user create', summary: 'Create a user', load: async () => (await users()).create },
  {
    name: 'user set',
    summary: "Change a user's email address, name, role or seat",
    load: async () => (await users()).set,
  },
  {
    name: 'login-link',
    summary: 'Print a link that signs a user in to the console; it works once, within ten minutes',
    load: async () => (await users()).loginLink,
  },
  {
    name: 'user deactivate',
    summary: 'Deactivate a user and all their API keys, and end their sessions',
    load: async () => (await users()).deactivate,
  },
  {
    name: 'user erase',
    summary: 'Erase a person for good; the same for former-user-ID@erased.invalid says how far that has come',
    load: async () => (await users()).erase,
  },
  { name: 'user activate', summary: 'Activate a deactivated user', load: async () => (await users()).activate },
  {
    name: 'key list',
    summary: 'List the API keys of all workspaces, of one, or of a user; never their tokens',
    load: async () => (await keys()).list,
  },
  { name: 'key show', summary: 'Show an API key; never its token', load: async () => (await keys()).show },
  {
    name: 'key create',
    summary: 'Create an API key and print its token; the token is shown only once',
    load: async () => (await keys()).create,
  },
  {
    name: 'key rotate',
    summary: 'Replace an API key by one with the same user, name and scopes, and print its token',
    load: async () => (await keys()).rotate,
  },
  { name: 'key revoke', summary: 'Revoke an API key permanently', load: async () => (await keys()).revoke },
  {
    name: 'slack connect',
    summary: 'Connect a workspace to Slack, or change the connection',
    load: async () => (await slack()).connect,
  },
  {
    name: 'slack configure',
    summary: 'Change what a connected workspace does in Slack',
    load: async () => (await slack()).configure,
  },
  {
    name: 'slack disconnect',
    summary: 'Disconnect a workspace from Slack; its channels stay',
    load: async () => (await slack()).disconnect,
  },
  {
    name: 'oidc connect',
    summary: 'Let people sign in to the console by an OpenID Connect provider, or change it',
    load: async () => (await oidc()).connect,
  },
  {
    name: 'oidc forget',
    summary: 'Forget by which accounts at the provider users signed in: the next sign-in of each confirms another one',
    load: async () => (await oidc()).forget,
  },
  {
    name: 'oidc disconnect',
    summary: 'Let nobody sign in by the provider any longer; sessions stay',
    load: async () => (await oidc()).disconnect,
  },
  {
    name: 'webhook list',
    summary: 'List the webhooks of a workspace, including revoked ones',
    load: async () => (await webhooks()).list,
  },
  {
    name: 'webhook deliveries',
    summary: 'List the latest deliveries of a workspace, newest first; they are kept for seven days by default',
    load: async () => (await webhooks()).deliveries,
  },
  {
    name: 'webhook delivery show',
    summary: 'Show a delivery and its attempts',
    load: async () => (await webhooks()).showDelivery,
  },
  {
    name: 'webhook redeliver',
    summary: 'Queue the event of a delivery for the same webhook again, within all limits',
    load: async () => (await webhooks()).redeliver,
  },
  {
    name: 'dead-letters list',
    summary: 'Count the messages of each queue that consumers could not handle',
    load: async () => (await deadLetters()).list,
  },
  {
    name: 'dead-letters show',
    summary: 'Show the oldest dead letters of a queue; they stay in it',
    load: async () => (await deadLetters()).show,
  },
  {
    name: 'dead-letters replay',
    summary: 'Send the oldest dead letters back to their queue',
    load: async () => (await deadLetters()).replay,
  },
  {
    name: 'dead-letters discard',
    summary: 'Delete the oldest dead letters of a queue',
    load: async () => (await deadLetters()).discard,
  },
  {
    name: 'doctor',
    summary: 'Look for data that contradict each other, and for parts that stand still; exits with 1 for problems',
    load: async () => (await import('./doctor/doctor-command.ts')).doctor,
  },
  {
    name: 'replicas rebuild',
    summary:
      'Publish what services have copies of again, and copy it from its owners; for a database that was restored',
    load: async () => (await import('./replica-commands.ts')).rebuild,
  },
  {
    name: 'database partition',
    summary: 'Partition the largest tables by workspace; before the first start, after npm run migrate',
    load: async () => (await import('./database-commands.ts')).partition,
  },
];

/** Whether a command line calls the command, or asks for its help. */
export function isCalled(name: string, args: readonly string[]): boolean {
  const words = args.filter((word) => !word.startsWith('-') && word !== 'help');
  return `${words.join(' ')} `.startsWith(`${name} `);
}
