import { expect } from 'chai';
import { becomes } from '../helpers/until.ts';
import { openBotsSite, type BotsSite } from './bots-site.ts';
import { confirmQuestion } from './browser.ts';

describe('rules and forms of chatbots in the admin', () => {
  let site: BotsSite;
  before(async () => {
    site = await openBotsSite();
  });
  after(() => site.stop());

  it('create a form and a rule that shows it, and try both in the preview', async () => {
    const { page, problems, preview, open, save, section, say } = site;
    await open();
    await section('Forms');
    await page.getByRole('link', { name: 'Add a form' }).click();
    await page.getByLabel('Name', { exact: true }).first().fill('Call me back');
    await page.getByLabel('Type of the new field').selectOption('select');
    await page.getByRole('button', { name: 'Add a field' }).click();
    const third = page.locator('[data-row="element"]').nth(2);
    await third.getByLabel('Options').waitFor();
    expect(await page.getByLabel('Name', { exact: true }).first().inputValue()).to.equal('Call me back');
    await becomes(() => page.locator('[data-row="element"]').first().getByLabel('Options').isVisible(), false);
    await third.getByLabel('Label').fill('When?');
    await third.getByLabel('Options').fill('am | In the morning\npm | In the afternoon');
    await third.getByRole('button', { name: /^Move up/ }).click();
    await page.locator('[data-row="element"]').nth(1).getByLabel('Options').waitFor();
    await page.getByLabel('Type of the new field').selectOption('hidden');
    await page.getByRole('button', { name: 'Add a field' }).click();
    const fourth = page.locator('[data-row="element"]').nth(3);
    await fourth.getByLabel('Filled with').waitFor();
    await becomes(() => fourth.getByLabel('Query parameter').isVisible(), false);
    await becomes(() => fourth.getByLabel('Required').isVisible(), false);
    await becomes(() => third.getByLabel('Filled with').isVisible(), false);
    await fourth.getByLabel('Label').fill('Campaign');
    await fourth.getByLabel('Filled with').selectOption('query');
    await fourth.getByLabel('Query parameter').fill('utm_source');
    await save();
    await page.getByText('Call me back saved.').waitFor();
    await page.getByRole('link', { name: 'Add a rule that shows it' }).click();
    await page.locator('#rule-name').fill('Wants a call');
    await becomes(() => page.getByLabel('Form', { exact: true }).inputValue(), 'call-me-back');
    await page.getByLabel('Condition 1: value').fill('call me\nphone');
    await page.getByRole('button', { name: 'Add a condition' }).click();
    await page.getByLabel('Condition 2: fact').selectOption('field');
    await page.getByLabel('Condition 2: name of the variable, or id of the field').waitFor();
    await page.getByRole('button', { name: 'Remove condition 2' }).click();
    await page.getByLabel('Condition 2: fact').waitFor({ state: 'detached' });
    await save();
    await page.getByText('Wants a call saved.').waitFor();
    await page.getByText('The message contains “call me” or “phone”').waitFor();
    await say('Please CALL ME tomorrow');
    const form = preview.getByRole('form', { name: 'Call me back' });
    await form.getByLabel('Name').fill('Grace Hopper');
    await form.getByLabel('When?').selectOption('pm');
    await form.getByLabel('Email').fill('grace@example.com');
    await form.getByRole('button', { name: 'Submit' }).click();
    await preview.getByText('Thank you. We have received your details.').first().waitFor();
    expect(problems).to.deep.equal([]);
  });

  it('order, turn off and delete rules, and reject an invalid one', async () => {
    const { page, problems, preview, open, save, say } = site;
    const wants = {
      id: 'call',
      name: 'Wants a call',
      event: 'message_received',
      conditions: [{ fact: 'message', operator: 'contains', value: 'call' }],
      action: { type: 'reply', text: 'We will.' },
    };
    await open({ rules: [wants] }, 'rule?bot=');
    await page.locator('#rule-name').fill('Closed');
    await save();
    await page.locator('#action-text-error').waitFor();
    expect(await page.locator('#action-text-error').textContent()).to.equal('Text must not be empty.');
    problems.length = 0;
    await page.getByLabel('Text', { exact: true }).fill('We are closed today.');
    await page.getByRole('button', { name: 'Remove condition 1' }).click();
    await page.getByLabel('Condition 1: fact').waitFor({ state: 'detached' });
    expect(await page.getByLabel('Text', { exact: true }).inputValue()).to.equal('We are closed today.');
    await save();
    await page.getByText('Closed saved.').waitFor();
    await page.getByRole('button', { name: 'Move up: Closed' }).click();
    await page.getByText('Order changed.').waitFor();
    await becomes(() => page.locator('.bot-rule h3').allTextContents(), ['Closed', 'Wants a call']);
    await say('Anybody there?');
    await preview.getByText('We are closed today.', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Turn off: Closed' }).click();
    await page.getByText('Closed is off.').waitFor();
    await page.getByRole('button', { name: 'Delete: Closed' }).click();
    await confirmQuestion(page);
    await page.getByText('Closed deleted.').waitFor();
    expect(problems).to.deep.equal([]);
  });

  it('work without JavaScript', async () => {
    const { host, signIn } = site;
    const { page: plain } = await signIn({ javaScriptEnabled: false });
    await plain.goto(`${host.url}/admin/svc/bots/new`);
    await plain.getByLabel('Customer support').check();
    await plain.getByLabel('Name', { exact: true }).fill('Plain');
    await plain.getByRole('button', { name: 'Create chatbot' }).click();
    await plain.getByText('"Plain" created.').waitFor();
    const at = plain.url();
    await plain.getByLabel('Title', { exact: true }).fill('By hand');
    await plain.getByLabel('Main color', { exact: true }).fill('no color');
    await plain.getByRole('button', { name: 'Save changes', exact: true }).last().click();
    await plain.getByText('Nothing was saved.').waitFor();
    expect(await plain.locator('#bot-look-primary_color-error').textContent()).to.contain('Main color must be a color');
    await plain.getByLabel('Main color', { exact: true }).fill('#00aa44');
    await plain.getByRole('button', { name: 'Save changes', exact: true }).last().click();
    await plain.getByText('Plain saved.').waitFor();
    expect(plain.url().split('#')[0]).to.equal(at.split('#')[0]);
    await plain.getByRole('link', { name: /^Rules/ }).click();
    await plain.getByRole('link', { name: 'Add a rule', exact: true }).click();
    await plain.getByLabel('Condition 1: value').fill('price');
    await plain.getByRole('button', { name: 'Add a condition' }).click();
    await plain.getByLabel('Condition 2: fact').selectOption('message_count');
    await plain.getByLabel('Condition 2: comparison').selectOption('greater_than');
    await plain.getByLabel('Condition 2: value').fill('3');
    expect(await plain.getByLabel('Condition 1: value').inputValue()).to.equal('price');
    await plain.getByLabel('Text', { exact: true }).fill('Ask our sales team.');
    await plain.getByRole('button', { name: 'Save rule' }).click();
    await plain.getByText('Number of messages is greater than “3”').waitFor();
    await plain.getByRole('link', { name: /^Forms/ }).click();
    await plain.getByRole('link', { name: 'Edit Contact' }).click();
    await plain.getByRole('button', { name: 'Move down: Name' }).click();
    await plain.getByRole('button', { name: 'Remove: What is it about?' }).click();
    await plain.getByRole('button', { name: 'Save form' }).click();
    await plain.getByText('2 fields: Email, Name').waitFor();
  });
});
