/** A plugin of oxlint (`.oxlintrc.json`): a query names the columns that it reads. */

interface Node {
  type: string;
  [property: string]: unknown;
}

interface Context {
  report(problem: { node: Node; message: string }): void;
}

const ALL_COLUMNS = /(?:^|[.])[*]$/;
const ALL_COLUMNS_IN_SQL = /\bselect\s+(?:distinct\s+)?(?:\w+[.])?[*]/i;
const CALLS = new Set(['select', 'first', 'returning']);

const namedColumns = {
  create: (context: Context) => {
    const report = (node: Node) => context.report({ node, message: 'Name the columns.' });
    const checkText = (node: Node, text: unknown) => {
      if (typeof text === 'string' && ALL_COLUMNS_IN_SQL.test(text)) report(node);
    };
    return {
      // select('*'), first('t.*'), returning('*'); select() is select('*')
      CallExpression: (node: Node) => {
        const name = ((node['callee'] as Node)['property'] as { name?: string } | undefined)?.name ?? '';
        const args = node['arguments'] as Node[];
        if (!CALLS.has(name)) return;
        if (name === 'select' && args.length === 0) report(node);
        for (const arg of args) if (ALL_COLUMNS.test(String(arg['value']))) report(arg);
      },
      Literal: (node: Node) => checkText(node, node['value']),
      TemplateElement: (node: Node) => checkText(node, (node['value'] as { raw: string }).raw),
    };
  },
};

export default { meta: { name: 'tocsin' }, rules: { 'named-columns': namedColumns } };
