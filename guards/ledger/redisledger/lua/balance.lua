sweep()
if not load(id) then
  return {'noaccount', id}
end
return balance({'ok'}, id)
