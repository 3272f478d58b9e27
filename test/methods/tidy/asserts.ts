import ts from 'typescript';
import { filesOf, parse, place, type Tree, visit } from './tree.ts';

/**
 * Assertions of the testkit that have no message. Node makes one from the source, which it parses
 * for it: that takes minutes where a bundler has put a whole program on one line.
 */
export function assertProblems(tree: Tree): string[] {
  const problems: string[] = [];
  for (const [path, text] of filesOf(tree, /^src\/testkit\/.*\.ts$/)) {
    const source = parse(path, text);
    visit(source, (node) => {
      if (!ts.isCallExpression(node) || node.arguments.length > 1) return;
      if (!/^assert(\.ok)?$/.test(node.expression.getText(source))) return;
      problems.push(`${place(source, node)}: an assertion without a message`);
    });
  }
  return problems;
}
