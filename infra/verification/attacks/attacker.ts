/** An attacker's process: runs one attack and reports how its requests ended. */
import type { AttackResult } from './attack.ts';
import { openContext } from './context.ts';
import type { FromAttacker, ToAttacker } from './messages.ts';
import { findAttack } from './registry.ts';
import type { TargetAddress } from '../systems/target.ts';

const tell = (message: FromAttacker) => void process.send?.(message);

async function run(name: string, target: TargetAddress, isShort: boolean): Promise<AttackResult> {
  const { context, result, close } = await openContext({ target, isShort, tell });
  try {
    await findAttack(name).run(context, await context.createWorkspace());
    return result();
  } catch (error) {
    return { ...result(), error: error instanceof Error ? error.message : String(error) };
  } finally {
    await close();
  }
}

process.on('message', (message: ToAttacker) => {
  if (message.kind !== 'prepare') return;
  void run(message.attack, message.target, message.isShort).then((result) => tell({ kind: 'done', result }));
});
process.once('disconnect', () => process.exit());
