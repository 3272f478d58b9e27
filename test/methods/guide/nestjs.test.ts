import { test } from 'vitest';
import { expectShown } from './shown.ts';

test('the guide shows what is tested in test/integrations/nestjs', () => {
  const files = ['app/shop.ts', 'nestjs.test.ts'];
  const urls = files.map((file) => new URL(`../../integrations/nestjs/${file}`, import.meta.url));
  expectShown('nestjs.md', ...urls);
});
