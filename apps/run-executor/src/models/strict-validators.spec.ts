import { strictAnthropic, strictOpenAi } from './strict-validators';

const call = (id: string, args = '{}', name = 'f'): object => ({ id, function: { name, arguments: args } });
const asks = (...tool_calls: object[]): object => ({ role: 'assistant', content: null, tool_calls });
const tells = (tool_call_id: string): object => ({ role: 'tool', tool_call_id, content: 'x' });
const user = { role: 'user', content: 'hi' };

it.each<[string, object[]]>([
  ['a missing result', [user, asks(call('a'))]],
  ['a result too late', [user, asks(call('a')), user, tells('a')]],
  ['results out of order', [user, asks(call('a'), call('b')), tells('b'), tells('a')]],
  ['a result without call', [user, tells('a')]],
  ['an id used twice', [user, asks(call('a')), tells('a'), asks(call('a')), tells('a')]],
  ['broken arguments', [user, asks(call('a', '{"q"')), tells('a')]],
  ['a bad name', [user, asks(call('a', '{}', 'x.y')), tells('a')]],
  ['an empty text', [{ role: 'user', content: '' }]],
  ['an empty list', [user, { role: 'assistant', content: 'x', tool_calls: [] }, user]],
  ['nothing to answer', [user, { role: 'assistant', content: 'x' }]],
  ['half a character', [{ role: 'user', content: '\ud800' }]],
])('the strict chat-completions endpoint refuses %s', (_, messages) => {
  expect(strictOpenAi({ messages: [user] })).toBeNull();
  expect(strictOpenAi({ messages })).not.toBeNull();
});

const said = (...content: object[]): object => ({ role: 'user', content });
const answered = (...content: object[]): object => ({ role: 'assistant', content });
const text = { type: 'text', text: 'hi' };
const use = { type: 'tool_use', id: 'a', name: 'f', input: {} };
const result = { type: 'tool_result', tool_use_id: 'a', content: 'x' };

it.each<[string, object[]]>([
  ['a missing result', [said(text), answered(use), said(text)]],
  ['a result behind a text', [said(text), answered(use), said(text, result)]],
  ['no content', [said()]],
  ['a blank text', [said({ type: 'text', text: ' ' })]],
  ['two turns of one side', [said(text), said(text)]],
  ['the model speaking first', [answered(text), said(text)]],
  ['the model speaking last', [said(text), answered(text)]],
  ['arguments that are a text', [said(text), answered({ ...use, input: '{}' }), said(result)]],
])('the strict messages endpoint refuses %s', (_, messages) => {
  expect(strictAnthropic({ messages: [said(text), answered(use), said(result, text)] })).toBeNull();
  expect(strictAnthropic({ messages })).not.toBeNull();
});
