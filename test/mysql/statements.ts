/** The statements of a text for the program `mysql`, one by one. */
export function statementsIn(text: string): string[] {
  return text
    .replace(/^(DELIMITER .*|--.*)$/gm, '')
    .split(/ *\/\/$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
}
